#compdef kiln
# Completion of kiln for zsh: the command itself says what may stand at the cursor.
_kiln() {
    local -a lines described
    lines=("${(@f)$("${~words[1]}" __complete "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
    described=("${(@)${(@)lines//:/\\:}/$'\t'/:}")
    if [[ -n $lines[1] ]]; then
        _describe kiln described
    else
        _files
    fi
}

# Loaded from a folder of functions the file is the function; sourced, it only defines the function.
if [[ $funcstack[1] == _kiln ]]; then
    _kiln "$@"
else
    compdef _kiln kiln
fi
