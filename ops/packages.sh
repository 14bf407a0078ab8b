# shellcheck shell=bash
# packages: installs the Debian packages of ops/packages.txt that are missing. To be sourced from
# the checkout's root.

packages_wanted() {
    grep -v '^#' ops/packages.txt
}

packages_missing() {
    local package
    for package in $(packages_wanted); do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
            echo "$package"
    done
}

packages_install() {
    local missing sudo=()
    mapfile -t missing < <(packages_missing)
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || {
            echo "error: ${#missing[@]} packages are missing, and there is no sudo" >&2
            echo "  try: as root, apt-get install ${missing[*]}" >&2
            return 1
        }
        sudo=(sudo)
    fi
    "${sudo[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
}
