--- Lists the functions to call: every public function with its parameters, and the methods of an
-- object, found as help finds them, so that new ones are called too.
local core = require "ladies_core"
local fields = require "ladies.base.fields"

local surface = {}

-- Left out, by a pattern of the name: other programs, the network, files that are not the caller's,
-- work of minutes, and what takes the whole settings of an experiment or a shape, or raises
-- what it is given. So are functions whose documentation has the words "For tests:" (see left_out).
local LEFT_OUT = {
  "^process%.", "^folder%.remove", "^truncate$", "^help$", "^home$",
  "^experiment%.re[a-z]+$", "^experiment%.model$", "^experiment%.sampler$", "^experiment%.options$",
  "^experiment%.batch_size$", "^experiment%.same_model$", "^experiment%.stored$",
  "^options%.value$", "^options%.check$", "^options%.spec_of$", "^errors%.",
  "^ablate$", "^auto$", "^compare$", "^costs$", "^depth$", "^figures$", "^lab$", "^report$",
  "^reproduce$", "^sweep$", "^table3$",
  "^variance$", "^experiment%.run$", "^experiment%.load$", "^data%.names$", "^plot%.available$",
  ":new$", ":transform_is_cheaper$", "^plot%.files$", "^workers$",
}

-- The parameters of these that say how long their result becomes: kept modest.
local MODEST = {
  ["partition.part_of"] = 3, ["ladies.Index:counts"] = 1,
  ["ladies.Index:group"] = 1, ["sampling.permutation"] = 1,
}

-- The option that ends the loops of these, which go on for as long as they are told to. It is
-- always given.
local ENDED_BY = {train = "max_batches"}

local function with_modesty(name, parameters)
  local parameter = parameters[MODEST[name]]
  if parameter then parameter.modest = true end
  if ENDED_BY[name] then table.insert(parameters[1].options, ENDED_BY[name]) end
  return parameters
end

local function left_out(name, doc)
  if doc:find("For tests:", 1, true) then return true end
  for _, pattern in ipairs(LEFT_OUT) do
    if name:find(pattern) then return true end
  end
  return false
end

-- The pieces of a text between commas outside of brackets.
local function split(text)
  local pieces, depth, piece = {}, 0, ""
  for c in text:gmatch "." do
    if c:find "[{(]" then depth = depth + 1 elseif c:find "[})]" then depth = depth - 1 end
    if c == "," and depth == 0 then
      pieces[#pieces + 1], piece = piece, ""
    else
      piece = piece .. c
    end
  end
  if piece:find "%S" then pieces[#pieces + 1] = piece end
  return pieces
end

-- The names that a documentation gives options: words before an equals sign, and those that begin
-- a line of a list.
local function option_names(doc)
  local names, seen = {}, {}
  for name in doc:gmatch "([%a_][%w_]*) ?=" do
    if not seen[name] then names[#names + 1], seen[name] = name, true end
  end
  table.sort(names)
  return names
end

local function of_piece(piece, doc)
  local words = piece:match "{(.*)}"
  if words then
    local names = option_names(words)
    return {name = "options", options = #names > 0 and names or option_names(doc)}
  end
  return {name = piece:match "[%a_][%w_]*" or "any"}
end

--- The parameters of a function as an array of {name =, options = names or nil}, without the object
-- of a method.
function surface.parameters(f, doc)
  local parameters = {}
  local list = doc:match "^[%w_.:]+(%b())" or doc:match "^[%w_.:]+(%b{})"
  if list then
    local braces = list:sub(1, 1) == "{"
    for _, piece in ipairs(split(braces and list or list:sub(2, -2))) do
      parameters[#parameters + 1] = of_piece(piece:gsub("[%[%]]", ""), doc)
    end
    return parameters
  end
  for i = 1, debug.getinfo(f, "u").nparams do
    local name = debug.getlocal(f, i)
    if name ~= "self" then
      local options = (name == "given" or name == "opts" or name == "options")
      parameters[#parameters + 1] = {name = name, options = options and option_names(doc) or nil}
    end
  end
  return parameters
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do
    if type(key) == "string" and not key:find "^_" then keys[#keys + 1] = key end
  end
  table.sort(keys)
  return keys
end

--- All functions of the library, and those of the core that it keeps for itself, sorted by name.
function surface.functions(ladies)
  local list, seen = {}, {[core.docs] = true}
  local function visit(prefix, module)
    if seen[module] then return end
    seen[module] = true
    local class = rawget(module, "__index") == module   -- its methods come with its objects
    for _, key in ipairs(class and {"new"} or sorted_keys(module)) do
      local value, name = module[key], prefix .. key
      if type(value) == "function" and not seen[value] then
        local doc = ladies.help_text(value)
        seen[value] = true
        if not left_out(name, doc) then
          list[#list + 1] = {name = name, call = value,
            parameters = with_modesty(name, surface.parameters(value, doc))}
        end
      elseif type(value) == "table" and fields.is_module(value) then
        visit(name .. ".", value)
      end
    end
  end
  visit("", ladies)
  visit("", core)
  return list
end

local methods_of_meta = {}   -- metatable -> its methods

--- The methods of an object, sorted by name; empty for a value without any.
function surface.methods(ladies, object)
  local meta = debug.getmetatable(object)
  if type(meta) ~= "table" or type(object) == "string" then return {} end
  if not methods_of_meta[meta] then
    local list, members = {}, rawget(meta, "__methods") or rawget(meta, "__index")
    for _, name in ipairs(type(members) == "table" and sorted_keys(members) or {}) do
      local method, full = members[name], tostring(meta.__name) .. ":" .. name
      local doc = type(method) == "function" and ladies.help_text(method)
      if doc and not doc:find "^no documentation" and not left_out(full, doc) then
        list[#list + 1] = {name = full, call = method,
          parameters = with_modesty(full, surface.parameters(method, doc))}
      end
    end
    methods_of_meta[meta] = list
  end
  return methods_of_meta[meta]
end

--- The names of the fields of an object of core.
function surface.fields(object)
  local meta = debug.getmetatable(object)
  return type(object) == "userdata" and rawget(meta, "__fields") or {}
end

return surface
