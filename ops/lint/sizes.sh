#!/bin/sh
# sizes: a function fits a screen, 70 lines, and a file holds one thing: 400 lines are usual, 500
# the end. Tests, which have tables in their functions, may have 150 and 700.
# The arguments are the files.
exec awk '
    FNR == 1       { end(); file = FILENAME; start = 0; test = file ~ /^tests\// }
                   { lines = FNR }
    /^\{/          { start = FNR }
    /^\}/ && start { if (FNR - start - 1 > (test ? 150 : 70))
                         report(FILENAME ":" start ": a function of " FNR - start - 1 " lines")
                     start = 0 }
    function report(text) { print "   " text; bad = 1 }
    function end() { if (file && lines > (test ? 700 : 500)) report(file ": " lines " lines") }
    END            { end(); exit bad }
' "$@"
