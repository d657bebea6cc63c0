# Completion of kiln for fish: the command itself says what may stand at the cursor.
function __kiln_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path "$current"
    end
end
complete -c kiln -f -a '(__kiln_complete)'
