#!/bin/sh
# sizes: a function has at most 70 lines; a C file 400 (a test 600). The arguments are the files.
exec awk '
    FNR == 1       { end(); file = FILENAME; start = 0 }
                   { lines = FNR }
    /^\{/          { start = FNR }
    /^\}/ && start { if (FNR - start - 1 > 70)
                         report(FILENAME ":" start ": a function of " FNR - start - 1 " lines; it has at most 70")
                     start = 0 }
    function report(text) { print "   " text; bad = 1 }
    function end()        { most = file ~ /^tests\// ? 600 : 400
                            if (file && lines > most)
                                report(file ": " lines " lines; it has at most " most) }
    END            { end(); exit bad }
' "$@"
