--- Makes the scripts by which bash, zsh and fish complete command lines of ladies, from the options
-- of the commands. An option's value is completed as one of its words, a folder or a file; the
-- first word of a command line as a command or a file, further words as files and, for some
-- commands, data sets.

local described = require "ladies.command.described"
local quote = require "ladies.base.shell_word"
local tables = require "ladies.base.tables"
local wrap = require "ladies.base.wrap"

local completion = {}

local WIDTH = 60  -- columns of what is said of an option

local function join(words) return table.concat(words or {}, " ") end

local function brief(help)
  local lines = wrap(help, WIDTH)
  return lines[1] .. (lines[2] and " ..." or "")
end

local function names(list, prefix)
  return tables.map(list, function(one) return (prefix or "") .. one.name end)
end

-- ---------------------------------------------------------------- bash

local BASH = [[
# Completion of ladies for bash; made by `ladies completion bash`.
_ladies()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= words= i
    [ "$before" = "=" ] && before=${COMP_WORDS[COMP_CWORD-2]}    # --option=word is three words
    [ "$word" = "=" ] && { before=${COMP_WORDS[COMP_CWORD-1]}; word=; }
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W %s -- "$word"))
        return
    fi
    case ${COMP_WORDS[1]} in
%s
    esac
    [ "$words" = / ] && { COMPREPLY=($(compgen -d -- "$word")); return; }
    case $word in
        -*) words=$options ;;
    esac
    [ -n "$words" ] && COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _ladies ladies
]]

local function bash_case(one)
  local lines = {("    %s)"):format(one.name),
    "        options=" .. quote(join(names(one.options or {}, "--")))}
  if one.words then lines[#lines + 1] = "        words=" .. quote(join(one.words)) end
  lines[#lines + 1] = "        case $before in"
  for _, option in ipairs(one.options or {}) do
    if option.value then
      lines[#lines + 1] = ("            --%s) words=%s ;;"):format(option.name,
        quote(option.place == "folder" and "/" or join(option.words)))
    end
  end
  return tables.append(lines, {"        esac", "        ;;"})
end

--- Returns the script for bash.
function completion.bash()
  local list, cases = described(), {}
  for _, one in ipairs(list) do tables.append(cases, bash_case(one)) end
  return BASH:format(quote(join(names(list))), table.concat(cases, "\n"))
end

-- ---------------------------------------------------------------- zsh

local ZSH = [[
#compdef ladies
# Completion of ladies for zsh; made by `ladies completion zsh`.
_ladies()
{
    local -a commands
    commands=(
%s
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        _files -g '*.lua'
        return
    fi
    case $words[2] in
%s
    esac
}
# A file of $fpath is called for the first completion; one that is sourced says what it is for.
if [ "$funcstack[1]" = _ladies ]; then _ladies "$@"; else compdef _ladies ladies; fi
]]

-- Escapes a text for use in a specification for zsh's function _arguments, in its brackets or
-- before its colons.
local function zsh_text(text) return (text:gsub("[%[%]:\\]", "\\%0")) end

local function zsh_option(option)
  local text = ("--%s%s[%s]"):format(option.name, option.value and "=" or "",
    zsh_text(brief(option.help)))
  if option.value then
    text = ("%s:%s:%s"):format(text, zsh_text(option.value),
      option.words and ("(%s)"):format(join(option.words))
      or option.place == "folder" and "_files -/" or "_files")
  end
  return "            " .. quote(text) .. " \\"
end

local function zsh_case(one)
  local lines = {("    %s)"):format(one.name),
    "        words=(ladies-$words[2] ${words[3,-1]}); (( CURRENT-- ))", "        _arguments \\"}
  for _, option in ipairs(one.options or {}) do lines[#lines + 1] = zsh_option(option) end
  if one.words then
    lines[#lines + 1] = ("            '1:data set:(%s)' \\"):format(join(one.words))
  end
  return tables.append(lines, {"            '*:file:_files'", "        ;;"})
end

--- Returns the script for zsh.
function completion.zsh()
  local list, heads, cases = described(), {}, {}
  for i, one in ipairs(list) do
    heads[i] = "        " .. quote(one.name .. ":" .. zsh_text(one.summary))
    tables.append(cases, zsh_case(one))
  end
  return ZSH:format(table.concat(heads, "\n"), table.concat(cases, "\n"))
end

-- ---------------------------------------------------------------- fish

local FISH = [[
# Completion of ladies for fish; made by `ladies completion fish`.
complete -c ladies -e
]]

-- Puts a text in single quotes for fish, which reads \' and \\ within them.
local function fish_quote(text) return "'" .. text:gsub("[\\']", "\\%0") .. "'" end

local function fish_option(one, option)
  local line = ("complete -c ladies -n '__fish_seen_subcommand_from %s' -l %s -d %s"):format(
    one.name, option.name, fish_quote(brief(option.help)))
  if not option.value then return line end
  if option.words then return ("%s -x -a %s"):format(line, fish_quote(join(option.words))) end
  return option.place == "folder" and line .. " -x -a '(__fish_complete_directories)'"
    or line .. " -r"
end

--- Returns the script for fish.
function completion.fish()
  local lines = {}
  for _, one in ipairs(described()) do
    lines[#lines + 1] = ("complete -c ladies -n __fish_use_subcommand -a %s -d %s"):format(
      one.name, fish_quote(one.summary))
    if one.words then
      lines[#lines + 1] = ("complete -c ladies -n '__fish_seen_subcommand_from %s' -a %s"):format(
        one.name, fish_quote(join(one.words)))
    end
    for _, option in ipairs(one.options or {}) do
      lines[#lines + 1] = fish_option(one, option)
    end
  end
  return FISH .. table.concat(lines, "\n") .. "\n"
end

return completion
