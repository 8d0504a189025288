--- ladies.help(x): the documentation of a function, a module or an object, from its source.
-- Functions of the C core bring their text along (ladies_core.docs); those in Lua have it in the
-- comment above them, found through debug.getinfo.

local core = require "ladies_core"
local options = require "ladies.base.options"

local WIDTH = 76   -- columns of a summary in a list

local help = {}

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

-- The comment that ends above line `last`, when a line with three dashes begins it.
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

local function function_doc(f)
  if core.docs[f] then return core.docs[f] end
  local info = debug.getinfo(f, "S")
  local path = info.what ~= "C" and info.source:match "^@(.*)"
  return path and comment_above(lines_of(path), info.linedefined - 1)
end

-- The first sentence of a function's text, without the signature that begins it, for lists.
local function summary_of(f)
  local text = (function_doc(f) or ""):gsub("\n  +", " ")   -- a long signature's further lines
  if core.docs[f] then
    text = text:match "\n(.*)" or text
  else
    text = text:match "^[%w_.:]+%b{}:%s+(.*)" or text:match "^[%w_.:]+%b():%s+(.*)" or text
  end
  text = text:gsub("%s+", " ")
  local sentence = text:match "^(.-[%w)\"`]%.)%f[%s].-%f[%u]" or text
  return #sentence <= WIDTH and sentence or sentence:sub(1, WIDTH - 3) .. "..."
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
    local value = members[name]
    local text = type(value) == "function" and summary_of(value) or "(" .. type(value) .. ")"
    lines[#lines + 1] = ("  %-" .. widest .. "s  %s"):format(name, text):gsub("%s+$", "")
  end
  return table.concat(lines, "\n")
end

local function methods_of(meta)
  local methods = rawget(meta, "__methods") or rawget(meta, "__index")
  return type(methods) == "table" and methods or {}
end

--- ladies.help_text(x): the text that ladies.help prints for x: a function's documentation, the
-- members of a module, the methods of an object.
function help.text(x)
  if type(x) == "function" then return function_doc(x) or "no documentation" end
  local meta = debug.getmetatable(x)
  if meta and options.class_of(x) then return list(tostring(x), methods_of(meta)) end
  if type(x) == "table" then return list("module", x) end
  return ("%s: a %s"):format(tostring(x), type(x))
end

--- ladies.help(x): prints what is known of a function, a module (a table of functions) or an
-- object. Without x it lists the library.
function help.show(x)
  if x == nil then x = package.loaded.ladies end
  print(help.text(x))
end

return help
