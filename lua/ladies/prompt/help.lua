--- Finds the documentation of functions, modules, classes and objects in their source, for
-- ladies.help. Functions of the C core bring their text along (ladies_core.docs); functions in Lua
-- have it in the comment above them, found through debug.getinfo, and modules in the comment that
-- begins their file.

local core = require "ladies_core"
local chunk = require "ladies.prompt.chunk"
local core_classes = require "ladies.base.core_classes"
local cut = require "ladies.base.cut"
local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local glossary = require "ladies.prompt.glossary"
local options = require "ladies.base.options"
local search = require "ladies.prompt.search"
local tables = require "ladies.base.tables"
local wrap_paragraphs = require "ladies.base.wrap_paragraphs"

local LONGEST = 200   -- columns of a summary
local FEWEST = 20     -- columns that are left of one in any list
local STANDARD_WIDTH = 80
local MOST_FOUND = 15

local host = package.loaded.ladies_host

local help = {}

-- Classes written in Lua whose methods users call, and their modules.
local LUA_CLASSES = {
  Dataset = "ladies.data.dataset", Graph = "ladies.graph", Gcn = "ladies.nn.gcn",
  GcnConv = "ladies.nn.gcn_conv", Linear = "ladies.nn.linear", LayerNorm = "ladies.nn.layer_norm",
  BatchNorm = "ladies.nn.batch_norm", Dropout = "ladies.nn.dropout",
  SavedRun = "ladies.experiment.saved_run", Task = "ladies.task.object",
  Figure = "ladies.report.figure",
  Laboratory = "ladies.lab.laboratory", Buffers = "ladies.nn.buffers",
  EdgeData = "ladies.data.edges", Edges = "ladies.links.edges",
  LinkDecoder = "ladies.nn.link_decoder",
  Pooling = "ladies.nn.pooling", Average = "ladies.optim.average",
}

--- Returns the classes whose methods users call, of the core and in Lua, as a table from name to
-- metatable.
function help.classes()
  local classes = core_classes()
  for name, module in pairs(LUA_CLASSES) do classes[name] = require(module) end
  return classes
end

local read_lines = {}   -- file name -> array of lines, for the files that help has looked into

local function lines_of(path)
  if not read_lines[path] then
    local lines = {}
    local file = io.open(path)
    if file then
      for line in file:lines() do lines[#lines + 1] = line end
      file:close()
    end
    read_lines[path] = lines
  end
  return read_lines[path]
end

-- Returns the comment that ends above line `last`, if a line with three dashes begins it.
local function comment_above(lines, last)
  local first = last
  while first > 0 and lines[first]:find "^%s*%-%-" and not lines[first]:find "^%s*%-%-%-" do
    first = first - 1
  end
  if first == 0 or not lines[first] or not lines[first]:find "^%s*%-%-%-" then return nil end
  local text = {}
  for i = first, last do text[#text + 1] = (lines[i]:gsub("^%s*%-+ ?", "")) end
  return table.concat(text, "\n")
end

--- Returns the comment at the beginning of the file of a module of the library; nil for other
-- tables.
function help.header(module)
  for name, loaded in pairs(package.loaded) do
    local path = rawequal(loaded, module) and package.searchpath(name, package.path)
    if path then
      local lines, last = lines_of(path), 0
      while (lines[last + 1] or ""):find "^%-%-" do last = last + 1 end
      return comment_above(lines, last)
    end
  end
end

-- Returns the lines in which a function is written, and the number of its first one; nil where they
-- are not known.
local function place_of(f)
  local info = debug.getinfo(f, "S")
  local path = info.what ~= "C" and info.source:match "^@(.*)"
  return path and lines_of(path) or info.source == "=stdin" and chunk.lines or nil, info.linedefined
end

--- Returns the documentation of a function; nil where it has none.
function help.documentation(f)
  if core.docs[f] then return core.docs[f] end
  local lines, first = place_of(f)
  return lines and comment_above(lines, first - 1)
end

-- Returns the documentation of the function within which this one is written, as a sampler is
-- within its constructor; nil where there is none.
local function documentation_around(f)
  local lines, at = place_of(f)
  if not lines then return nil end
  repeat
    at = at - 1
    if at < 1 or lines[at]:find "^end" then return nil end
  until lines[at]:find "^function" or lines[at]:find "^local function"
    or lines[at]:find "^return function"
  return comment_above(lines, at - 1)
end

--- Returns the first sentence of the documentation of a function (without its signature) or a
-- module, for lists; "" for none.
function help.summary(value)
  local is_function = type(value) == "function"
  local text = (is_function and help.documentation or help.header)(value) or ""
  text = text:gsub("\n  +", " ")       -- a long signature's further lines
  if core.docs[value] then
    text = text:match "\n(.*)" or text
  else
    local rest = text:match "^[%w_.:]+%b{}(.*)" or text:match "^[%w_.:]+%b()(.*)" or ""
    text = rest:match "^:%s+(.*)" or rest:match "^%s+%->[^:]+:%s+(.*)" or text
  end
  text = text:gsub("%s+", " ")
  return cut(text:match "^(.-[%w)\"`]%.)%f[%s].-%f[%u]" or text, LONGEST)
end

--- Returns the signature with which the documentation of a function begins, on one line; nil where
-- it has no documentation.
function help.signature(f)
  local text = help.documentation(f)
  if not text then return nil end
  text = text:gsub("\n  +", " ")
  local first = text:match "^[^\n]*"
  if core.docs[f] then return first end
  local call = text:match "^[%w_.:]+%s*%b{}" or text:match "^[%w_.:]+%s*%b()"
  local results = call and text:match("^%s*%->[^:]*", #call + 1) or ""
  return call and (call .. results):gsub("%s+", " ") or first
end

--- Returns the class (its metatable) of a function's result if its signature has "-> Class"; or
-- nil.
function help.class_of_result(f)
  local doc = type(f) == "function" and help.documentation(f) or ""
  local name = (doc:match "^.-%.\n" or doc):match "%-> (%u%w*)"
  return name and help.classes()[name]
end

-- Adds the names that are followed by "=" in the braces with which a text begins; braces within
-- these are values.
local function add_from_signature(text, add)
  local braces = text:match "^[%w_.:]+(%b{})" or text:match "^[%w_.:]+%([^()]-(%b{})" or ""
  local flat = braces:sub(2, -2):gsub("%b{}", "")
  for option in flat:gmatch "%f[%w_]([%a_][%w_]*)%s*=" do add(option, "") end
end

-- Returns the names in a text such as "epochs (1000), max_batches"; nil for any other text.
local function names_in(text)
  local names = {}
  for item in (text .. ","):gmatch "%s*(.-)," do
    local name = item:gsub(" %b()$", ""):match "^[%a_][%w_]*$"
    if not name then return nil end
    names[#names + 1] = name
  end
  return names
end

--- Returns the options of a function, as {name =, text = (the first words about it)}: those in its
-- signature and in the list below that, in this order, and those of the function that it refers to
-- with "options are those of NAME" or "those of NAME, without a, b and c".
function help.options(f)
  local list, at = {}, {}
  local function add(name, text)
    if at[name] then
      at[name].text = text ~= "" and text or at[name].text
    else
      at[name] = {name = name, text = text}
      list[#list + 1] = at[name]
    end
  end
  local text = type(f) == "function" and help.documentation(f) or ""
  add_from_signature(text, add)
  for line in text:gmatch "[^\n]+" do
    local names, about = line:match "^(%a.-)  +(%S.*)$"
    if not names then names, about = line:match "^(%l[%w]*_[%w_]*) (%S.*)$" end
    for _, name in ipairs(names and names_in(names) or {}) do add(name, about) end
  end
  local other, without = text:match "options are those of%s+([%w_.]+%w)([^.]*)"
  without = (" " .. (without or "") .. " "):match "^ ,%s+without(.*)" or ""
  for _, option in ipairs(other and help.options(help.find(other)) or {}) do
    local is_left_out = without:find("%f[%w_]" .. option.name .. "%f[^%w_]")
    if not is_left_out then add(option.name, option.text) end
  end
  return list
end

-- Returns a line of a list, a name and a text, cut to the columns of the terminal.
local function row(name, widest, text)
  local room = (host and host.width() or STANDARD_WIDTH) - widest - 4
  return (("  %-" .. widest .. "s  %s"):format(name, cut(text, math.max(room, FEWEST)))
    :gsub("%s+$", ""))
end

local function list(title, members)
  local names, widest = {}, 0
  for name in pairs(members) do
    if type(name) == "string" and not name:find "^_" then
      names[#names + 1] = name
      widest = math.max(widest, #name)
    end
  end
  table.sort(names)
  local lines = {title}
  for _, name in ipairs(names) do
    local text = help.summary(members[name])
    if text == "" then text = "(" .. type(members[name]) .. ")" end
    lines[#lines + 1] = row(name, widest, text)
  end
  return table.concat(lines, "\n")
end

--- Returns the documentation of a class's operators, an array of {name = the metamethod, text =},
-- sorted by name. A text begins with how the operator is written, "t + u -> Tensor".
function help.operators(meta)
  local texts, found = rawget(meta, "__operators") or {}, {}
  for i, name in ipairs(tables.sorted_keys(texts)) do
    found[i] = {name = name, text = texts[name]}
  end
  return found
end

local prompt = {}   -- the functions that only the prompt has, by name

--- Tells which functions the prompt has besides the library, a table by name.
function help.at_prompt(functions)
  for name, value in pairs(functions) do
    if type(value) == "function" then prompt[name] = value end
  end
end

local function list_class(title, meta)
  local methods = rawget(meta, "__methods") or rawget(meta, "__index")
  local names, written = table.concat(rawget(meta, "__fields") or {}, ", "), {}
  for i, operator in ipairs(help.operators(meta)) do
    written[i] = operator.text:match "^[^\n]*":gsub(" %->.*", "")
  end
  if names ~= "" then title = ("%s\nfields: %s"):format(title, names) end
  if #written > 0 then title = ("%s\noperators: %s"):format(title, table.concat(written, ", ")) end
  return list(title, type(methods) == "table" and methods or {})
end

--- Finds the function, module or class that a text names: "nn.gcn", "ladies.nn.gcn", "Tensor" or
-- "Tensor:sum"; or a module to which documentation refers, "data.made_features". Fails where
-- nothing has that name.
function help.find(text)
  local path = text:gsub("^ladies%.", "")
  local first, rest = path:match "^(%w+)(.*)$"
  local class = help.classes()[first]
  if class and rest == "" then return class end
  local function find()
    local found = class and (class.__methods or class) or package.loaded.ladies
    for name in (class and rest or path):gmatch "[^.:]+" do
      found = type(found) == "table" and found[name]
    end
    return found or errors.fail(("ladies.help: nothing is called %q"):format(text))
  end
  local module = "ladies." .. path
  local ok, found = errors.try(find)
  if not ok and package.searchpath(module, package.path) then return (require(module)) end
  return ok and found or error(found, 0)
end

-- Returns everything that has documentation, for a search, as an array of {name =, summary =, text
-- =, value =}.
local function entries()
  local found, seen = {}, {}
  local function add(name, value)
    local text_of = type(value) == "function" and help.documentation or help.header
    found[#found + 1] = {name = name, value = value, summary = help.summary(value),
      text = text_of(value) or ""}
  end
  -- All members of a table come before those of the tables in it, so that a function with two names
  -- gets the shorter one.
  local function walk(name, t, separator)
    local below = {}
    for key, value in pairs(t) do
      local is_public = type(key) == "string" and not key:find "^_" and key ~= "docs"
        and (type(value) == "function" or fields.is_module(value))
      if is_public and not seen[value] then
        seen[value] = true
        add(name .. separator .. key, value)
        if type(value) == "table" then below[name .. separator .. key] = value end
      end
    end
    for _, path in ipairs(tables.sorted_keys(below)) do walk(path, below[path], ".") end
  end
  walk("ladies", package.loaded.ladies, ".")
  for name, class in pairs(help.classes()) do
    walk(name, rawget(class, "__methods") or class, ":")
  end
  return found
end

-- Returns the text of a list of the first of the entries {name =, summary =}, or nil where there
-- are none.
local function listed(found)
  local lines, widest = {}, 0
  if #found == 0 then return nil end
  for i = 1, math.min(#found, MOST_FOUND) do widest = math.max(widest, #found[i].name) end
  for i = 1, math.min(#found, MOST_FOUND) do
    lines[i] = row(found[i].name, widest, found[i].summary)
  end
  local rest = #found - #lines
  if rest > 0 then lines[#lines + 1] = ("  and %d more"):format(rest) end
  return table.concat(lines, "\n")
end

-- Returns a list, as text, of the functions that have an option of this name, with what they say
-- about it; or nil.
local function functions_with(option, all)
  local found = {}
  for _, entry in ipairs(all) do
    for _, one in ipairs(help.options(entry.value)) do
      if one.name == option then found[#found + 1] = {name = entry.name, summary = one.text} end
    end
  end
  table.sort(found, function(a, b) return a.name < b.name end)
  local rows = listed(found)
  return rows and ("%s is an option of\n%s"):format(option, rows)
end

-- Returns the help for words that are no name: their meaning in the glossary, functions with an
-- option of that name, and entries with these words in their documentation; or nil.
local function found_by(words)
  local all = entries()
  local parts = {glossary(words)}
  parts[#parts + 1] = functions_with(words, all)
  parts[#parts + 1] = listed(search.find(words, all))
  return #parts > 0 and table.concat(parts, "\n\n") or nil
end

-- Returns the help for a text: the help of what it names, or else the result of a search for its
-- words.
local function help_of_words(text)
  if prompt[text] then return help.text(prompt[text]) end
  local ok, found = errors.try(help.find, text)
  if ok then return help.text(found) end
  local known = not text:find "[.:]" and found_by(text)
  if known then return known end
  if text:find "[.:]" or errors.message(found):find "did you mean" then error(found, 0) end
  errors.fail(("ladies.help: nothing is called %q, and no documentation has these words")
    :format(text))
end

-- Returns a function's documentation, or else that of the function that made it, and the header of
-- its file where the function is the whole module.
local function help_of_function(f)
  local doc, header = help.documentation(f), help.header(f)
  if not doc then
    local around = documentation_around(f)
    doc = around and "no documentation of its own; it was made by\n\n" .. around
      or "no documentation"
  end
  return header and header ~= doc and ("%s\n\n%s"):format(doc, header) or doc
end

-- Returns the help of a table that is called as a function: that of what its name stands for, as a
-- sampler has that of its constructor, or else of what is called.
local function help_of_callable(x, call)
  local name = rawget(x, "name")
  local ok, found = errors.try(help.find, type(name) == "string" and name or "")
  return help_of_function(ok and type(found) == "function" and found or call)
end

--- ladies.help_text(x: any) -> string: the text that ladies.help prints for x: a function's
-- documentation, the members of a module, the fields and methods of an object or a class. A text
-- stands for what it names, or else for words to search for.
function help.text(x)
  if type(x) == "string" then return help_of_words(x) end
  if type(x) == "function" then return help_of_function(x) end
  local meta = debug.getmetatable(x)
  if type(x) == "table" and rawget(x, "__name") then
    return list_class(x.__name:match "[^.]*$", x)
  end
  if meta and options.class_of(x) then return list_class(tostring(x), meta) end
  if meta and type(meta.__call) == "function" and not help.header(x) then
    return help_of_callable(x, meta.__call)
  end
  if type(x) == "table" then return list((help.header(x) or "a table") .. "\n", x) end
  return ("%s: a %s"):format(tostring(x), type(x))
end

--- ladies.help([x: any]): prints what is known of a function, a module (a table of functions), a
-- class or an object, or of what is called x, as in help "nn.gcn" and help "Tensor:sum". Where
-- nothing is called so, it says what the word means, as in help "seeds", and lists what has an
-- option of that name, as in help "self_nodes", and what has these words in its documentation: help
-- "choose neighbours". Without x it lists the library, and what the prompt has besides.
function help.show(...)
  local x = ...
  if select("#", ...) == 0 then
    x = package.loaded.ladies
  elseif x == nil then
    errors.fail "ladies.help: there is no help for nil; ladies.help() lists the library"
  end
  local text = help.text(x)
  if select("#", ...) == 0 and next(prompt) then
    text = ("%s\n\n%s"):format(text, list("At the prompt also:\n", prompt))
  end
  print(host and core.isatty(1) and wrap_paragraphs(text, host.width()) or text)
end

return help
