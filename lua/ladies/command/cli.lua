--- Reads the command lines of scripts by declared options, each with a type, a default and a help
-- text.
--
--   cli.main({
--     name = "ladies train",
--     about = "Trains a deep GCN with sampled mini-batches.",
--     {"dataset", "NAME|PATH", "string", default = "wordnet", help = "data set to train on"},
--     {"lr", "RATE", "positive number", default = 1e-3, help = "learning rate"},
--     {"quiet", help = "no progress"},                                   -- a flag
--   }, arg, function(opts, given) ... end)
--
-- `usage` may stand in for the first line of the help text, "ladies train [options]". Types are
-- those of ladies.options; the elements of an array have commas between them. `--batch-size 64` and
-- `--batch-size=64` set opts.batch_size; given.batch_size tells that the user did. With words =
-- {"run"} the first argument that is no option sets opts.run. It may stand anywhere among the
-- options, and no argument behind `--` is an option; where there is an option --run as well, the
-- word and the option mean the same. With rest = "runs" the other words are an array, opts.runs. A
-- command that several processes may run together says ranks = true. A value whose name is in
-- brackets, such as "[DIR]", may be left out, at the end of the line or where another option
-- follows; then opts has true. An option's `read` makes its value of the text; its `group` is the
-- heading under which help lists it, and with `brief` help has only its name. Where the options
-- depend on other arguments, the spec is a function of the arguments.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local link = require "ladies.ranks.link"
local mapped_files = require "ladies.base.mapped_files"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"
local wrap = require "ladies.base.wrap"

local host = package.loaded.ladies_host

local cli = {}

--- Exit status after Ctrl-C, as shells have it for SIGINT.
cli.INTERRUPTED = 130

local HELP = {"help", help = "show this text and end"}
local LEAST = 40  -- columns of the help text, however narrow the terminal is
local STANDARD_WIDTH = 80

local function key_of(name)
  return (name:gsub("-", "_"))
end

-- Returns the declared options twice: as a table by name, and as an array of the names.
local function index(spec)
  local by_name, names = {help = HELP}, {}
  for i, option in ipairs(spec) do
    by_name[option[1]], names[i] = option, "--" .. option[1]
  end
  names[#names + 1] = "--help"
  return by_name, names
end

-- Splits a text at its commas into words, of which empty ones do not count; with `numbers`, parts
-- that are numbers become numbers, and each counts.
local function split(text, numbers)
  local list = {}
  for part in (text .. ","):gmatch "%s*([^,]-)%s*," do
    if numbers or part ~= "" then list[#list + 1] = numbers and tonumber(part) or part end
  end
  return list
end

-- Converts the text of an option to a value of its type. An error is the message of options.value
-- without the place in a script, since the mistake is on the command line.
local function convert(spec, option, text)
  local type_text = option[3]
  if text == "" then error(("%s: --%s is empty"):format(spec.name, option[1]), 0) end
  local value = option.read and option.read(text) or text
  if type_text == "boolean" then
    value = text == "true" or (text ~= "false" and text)
  elseif type_text:find "^array of " or type_text:find " or array of " and text:find "," then
    value = split(text, type_text:find "number" or type_text:find "integer")
    if #value == 0 then error(("%s: --%s is empty: %s"):format(spec.name, option[1], text), 0) end
  elseif type_text:find "number" or type_text:find "integer" then
    value = tonumber(text) or text
  end
  local ok, result = errors.try(options.value, spec.name, "--" .. option[1], value, type_text)
  if not ok then error(errors.message(result), 0) end
  return result
end

--- cli.join(spec, list, ...): appends the options in the lists to the spec, and returns it.
function cli.join(spec, ...)
  for _, list in ipairs{...} do tables.append(spec, list) end
  return spec
end

--- Splits a list such as "a,b" into {"a", "b"}; returns nil for nil.
function cli.words(text) return text and split(text) end

--- Returns the text that the arguments `args` give to an option, before they are parsed; nil if
-- they do not have it.
function cli.peek(args, name)
  for i, text in ipairs(args) do
    if text == "--" then return nil end
    if text == "--" .. name then return args[i + 1] end
    local value = text:match("^%-%-" .. name .. "=(.+)$")
    if value then return value end
  end
end

--- Parses the command line `args`, an array of strings. Returns a table of the options' values,
-- defaults included, and a table with true for each that was given. Errors are one line each: an
-- unknown option (with the nearest one there is), a missing, empty or wrong value, a stray word.
function cli.parse(spec, args)
  local by_name, names = index(spec)
  local opts, given, words = {}, {}, {}
  if spec.rest then opts[spec.rest] = {} end
  local function fail(text, ...) error(spec.name .. ": " .. text:format(...), 0) end

  -- Parses the option args[i] and its value; returns the place of the last argument that belongs to
  -- it.
  local function take(i)
    local name, value = args[i]:match "^%-%-([^=]+)=(.*)$"
    name = name or args[i]:match "^%-%-(.+)$" or (args[i] == "-h" and "help")
    if not name then
      fail("unexpected %q; options begin with --, and --help lists them", args[i])
    end
    local option = by_name[name]
    if not option then
      local near = options.nearest("--" .. name, names)
      fail("unknown option --%s%s", name, near and ("; did you mean %s?"):format(near)
        or "; --help lists them")
    end
    local following = args[i + 1]
    local is_alone = not value and (not following or following:find "^%-")
    if option[2] and is_alone and option[2]:find "^%[" then
      opts[key_of(name)] = true
    elseif option[2] then
      if not value then
        i = i + 1
        value = args[i]
        if not value or by_name[value:match "^%-%-([^=]+)" or ""] then
          fail("--%s needs a value: %s", name, option[2])
        end
      end
      opts[key_of(name)] = convert(spec, option, value)
    elseif value then
      fail("--%s takes no value", name)
    else
      opts[key_of(name)] = true
    end
    given[key_of(name)] = true
    return i
  end

  -- Parses an argument that is no option, the n-th of these.
  local function take_word(n, word)
    local key = spec.words and spec.words[n]
    if not key and spec.rest then
      table.insert(opts[spec.rest], word)
      return
    elseif not key then
      fail("unexpected %q; options begin with --, and --help lists them", word)
    elseif given[key] and opts[key] ~= word then
      fail("both %s and --%s %s are given", word, key, opts[key])
    end
    opts[key], given[key] = by_name[key] and convert(spec, by_name[key], word) or word, true
  end

  local i = 1
  while args[i] and args[i] ~= "--" do
    if args[i]:find "^%-." then i = take(i) else words[#words + 1] = args[i] end
    i = i + 1
  end
  table.move(args, i + 1, #args, #words + 1, words)
  for n, word in ipairs(words) do take_word(n, word) end
  for _, option in ipairs(spec) do
    local key = key_of(option[1])
    if opts[key] == nil then opts[key] = option.default end
  end
  return opts, given
end

--- Returns the options of a spec in their order, followed by --help, which every command has.
function cli.options(spec)
  local listed = tables.append({}, spec)
  listed[#listed + 1] = HELP
  return listed
end

--- Returns the help text of an option, with its default.
function cli.option_help(option)
  local standard = option.default
  if standard == nil then return option.help end
  local function text(value)
    return type(value) == "table" and table.concat(value, ",") or tostring(value)
  end
  return ("%s (default %s%s)"):format(option.help, text(standard),
    option.quick ~= nil and "; quick " .. text(option.quick) or "")
end

-- Returns the lines of help about an option: its name, and its help text beside it or, where the
-- name is long, below.
local function option_lines(option, column, width)
  local head = "  --" .. option[1] .. (option[2] and " " .. option[2] or "")
  local lines = wrap(cli.option_help(option), width - column, true)
  for i, line in ipairs(lines) do lines[i] = (" "):rep(column) .. line end
  if #head + 2 > column then
    table.insert(lines, 1, head)
  else
    lines[1] = head .. lines[1]:sub(#head + 1)
  end
  return lines
end

-- Returns the options by groups, an array of {title =, options =}, in the order in which groups
-- first appear; groups of brief options come last.
local function groups_of(spec)
  local groups, last, by_title = {}, {}, {}
  for _, option in ipairs(cli.options(spec)) do
    local title = option.group or ""
    if not by_title[title] then
      by_title[title] = {title = title, options = {}}
      table.insert(option.brief and last or groups, by_title[title])
    end
    table.insert(by_title[title].options, option)
  end
  return tables.append(groups, last)
end

-- Returns a text with the names of the brief options of a group, or nil where there are none.
local function brief_names(options_of_group)
  local names = {}
  for _, option in ipairs(options_of_group) do
    if option.brief then names[#names + 1] = "--" .. option[1] end
  end
  return names[1] and table.concat(names, ", ")
end

--- Returns the text of --help, in lines of at most `width` columns, by default those of the
-- terminal: what the command does, then every option with its default, by groups where it has some.
function cli.help(spec, width)
  width = math.max(LEAST, width or host and host.width() or STANDARD_WIDTH)
  local groups, widest = groups_of(spec), 0
  for _, option in ipairs(cli.options(spec)) do
    local head = #option[1] + (option[2] and #option[2] + 1 or 0) + 6
    if not option.brief and head <= width // 3 then widest = math.max(widest, head) end
  end
  local lines = wrap(("usage: %s"):format(spec.usage or spec.name .. " [options]"), width)
  lines[#lines + 1] = ""
  tables.append(lines, wrap(spec.about, width))
  for _, group in ipairs(groups) do
    lines[#lines + 1] = ""
    if #groups > 1 then
      local title = group.title == "" and spec.name or group.title
      tables.append(lines, wrap(title .. ":", width))
    end
    for _, option in ipairs(group.options) do
      if not option.brief then tables.append(lines, option_lines(option, widest, width)) end
    end
    local brief = brief_names(group.options)
    tables.append(lines, tables.map(brief and wrap(brief, width - 2) or {}, function(line)
      return "  " .. line
    end))
  end
  return table.concat(lines, "\n")
end

-- Turns an error into the one line that the user of a command sees. Only an error in the program
-- itself, and not in its input or in the user's code, keeps its place and traceback.
local function explain(message)
  if type(message) ~= "string" then return errors.noted(message) end
  if errors.is_internal(message) and not errors.is_in_own_file(message) then
    return debug.traceback(message, 2)
  end
  if errors.is_in_own_file(message) then return errors.told(message) end
  return core.printable(errors.told(message))
end

-- Prints an error on stderr, with control characters made visible. With several processes, the line
-- says which one it is.
local function complain(text)
  if host then return host.complain(text) end
  io.stderr:write(core.printable(text, true), "\n")
end

-- Tells whether mpirun or srun is ending this process, in which case that program reports the
-- reason.
local function by_launcher() return host ~= nil and host.terminated() end

-- Prints values as `print` does, with control characters of quoted names and files made visible, so
-- that they cannot move the cursor.
local function print_plainly(...)
  local words = table.pack(...)
  for i = 1, words.n do words[i] = core.printable(tostring(words[i]), true) end
  io.stdout:write(table.concat(words, "\t"), "\n")
end

local asked = false  -- whether cli.main is to tell its spec and not to run

--- Returns the spec that the script at a path gives to cli.main, by running the script up to that
-- call; nil for a script without that call, which is not run.
function cli.spec_of(path)
  local file <close> = assert(io.open(path))
  if not file:read "a":find "\ncli%.main%(" then return nil end
  asked = true
  local ok, spec = errors.try(coroutine.wrap(assert(loadfile(path, "t"))))
  asked = false
  if not ok then error(spec, 0) end
  return spec
end

-- Fails where several processes were started for a command that runs in one.
local function check_ranks(spec)
  if link.size > 1 and not spec.ranks then
    error(("%s runs in one process, and %d were started"):format(spec.name, link.size), 0)
  end
end

-- Returns an error's text for the user: it begins with the name of the command, which replaces the
-- name of the function behind the command.
local function told(spec, e)
  local text = errors.told(e)
  if type(spec) ~= "table" then return text end
  local its_function = spec.name:gsub(" ", ".") .. ": "
  if text:sub(1, #its_function) == its_function then text = text:sub(#its_function + 1) end
  return text:sub(1, #spec.name) == spec.name and text or spec.name .. ": " .. text
end

-- Prints an error in one line and ends the program with this exit status, or with that of an
-- interruption.
local function give_up(spec, e, status)
  local interrupted = errors.is_interrupt(e)
  if not (interrupted and by_launcher()) then complain(told(spec, e)) end
  os.exit(interrupted and cli.INTERRUPTED or status, true)
end

--- Parses `args`, runs main(opts, given) and returns what it returns. `--help` prints the help text
-- and ends the program; a wrong command line ends it with status 2 and one line on stderr, an error
-- in main with status 1 and one line.
function cli.main(spec, args, main)
  if asked then coroutine.yield(type(spec) == "function" and spec{} or spec) end
  local ok, opts, given = pcall(function()
    if type(spec) == "function" then spec = spec(args) end
    check_ranks(spec)
    return cli.parse(spec, args)
  end)
  if not ok then give_up(spec, opts, 2) end
  if opts.help then
    print(cli.help(spec))
    os.exit(0, true)
  end
  if core.isatty(1) then _G.print = print_plainly end
  local results = table.pack(xpcall(main, explain, opts, given))
  local unchanged, e = pcall(mapped_files.check_all)      -- what is not may be why main failed
  if not unchanged and not errors.is_interrupt(results[2]) then give_up(spec, e, 1) end
  if not results[1] then give_up(spec, results[2], 1) end
  return table.unpack(results, 2, results.n)
end

return cli
