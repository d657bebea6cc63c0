# Completion of kiln for bash: the command itself says what may stand at the cursor.
_kiln() {
    local line=${COMP_LINE:0:COMP_POINT} breaks= cut=
    local -a words
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    # bash replaces only what is behind the last break of the word.
    [[ $COMP_WORDBREAKS == *:* ]] && breaks+=:
    [[ $COMP_WORDBREAKS == *=* ]] && breaks+==
    [[ -n $breaks ]] && cut=${words[-1]%"${words[-1]##*[$breaks]}"}
    mapfile -t COMPREPLY < <("${words[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null | cut -f 1)
    COMPREPLY=("${COMPREPLY[@]#"$cut"}")
}
complete -o default -F _kiln kiln
