# shellcheck shell=bash
# Completion of pawl for bash. Sourced by bash-completion, or by hand; needs nothing but bash.

# The words of this version of pawl: asked of it where it can tell, so that they cannot drift apart.
_pawl_commands() {
    pawl help 2>/dev/null | sed -n '/^Commands:/,/^Options/s/^  \([a-z-]*\) .*/\1/p'
}

_pawl_option_keys() {
    pawl config --reference 2>/dev/null | awk 'NR > 1 { gsub("_", "-", $1); print "--" $1 }'
}

# Names of locks that somebody holds or waits for, one a line.
_pawl_lock_names() {
    pawl -q ${_pawl_store:+--store "$_pawl_store"} -o jsonl inspect 2>/dev/null |
        sed -n 's/^{"lock":"\([^"\\]*\)".*/\1/p'
}

# Where in COMP_WORDS the command stands (0 = not yet), the store that was chosen, and whether "--"
# came before the cursor.
_pawl_scan() {
    local i word
    _pawl_command_at=0 _pawl_store='' _pawl_dashes_at=0
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $word in
        --) _pawl_dashes_at=$i && return ;;
        --store) _pawl_store=${COMP_WORDS[i + 1]-} ;;
        esac
        case $word in
        --*=* | --quiet | --verbose | --no-color | --help | --version | --nonblock | --close-fd | \
            --shared | --watch | --now | --reference) ;;
        --* | -o | -w | -E) i=$((i + 1)) ;;
        -*) ;;
        *) ((_pawl_command_at)) || _pawl_command_at=$i ;;
        esac
    done
}

_pawl_fill() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_pawl_options() {
    local own
    case $1 in
    lock) own="--nonblock --wait --reason --busy-code --close-fd --mode" ;;
    inspect) own="--watch" ;;
    break) own="--token --reason --now --wait" ;;
    bench) own="--in-flight --threads --contenders --seconds" ;;
    config) own="--reference" ;;
    esac
    echo "$own --output --quiet --verbose --no-color --help $(_pawl_option_keys)"
}

_pawl() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local _pawl_command_at _pawl_store _pawl_dashes_at command
    COMPREPLY=()
    _pawl_scan
    if ((_pawl_dashes_at)); then
        # What follows is a command line of its own.
        if declare -F _command_offset >/dev/null; then
            _command_offset $((_pawl_dashes_at + 1))
        else
            mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
        fi
        return
    fi
    case $prev in
    -o | --output) _pawl_fill "table json jsonl" "$cur" && return ;;
    --store) _pawl_fill "local: local:///" "$cur" && return ;;
    --mode) _pawl_fill "x" "$cur" && return ;;
    -w | --wait | -E | --busy-code | --reason | --token | --in-flight | --threads | \
        --contenders | --seconds) return ;;
    esac
    command=${COMP_WORDS[_pawl_command_at]}
    if [[ $cur == -* ]]; then
        _pawl_fill "$(_pawl_options "$command")" "$cur"
    elif ((_pawl_command_at == 0)); then
        _pawl_fill "$(_pawl_commands)" "$cur"
    else
        case $command in
        lock | inspect | break) _pawl_fill "$(_pawl_lock_names)" "$cur" ;;
        help) _pawl_fill "exit-codes $(_pawl_commands)" "$cur" ;;
        config)
            if [[ $prev == check ]]; then
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            else
                _pawl_fill "check" "$cur"
            fi
            ;;
        esac
    fi
}

complete -F _pawl pawl
