--- Checks the options tables that functions of the library take, all in the same way.
--
--   local opts = options.check("ladies.optim.adam", given, {
--     lr     = {"positive number", 1e-3},        -- a type and its default
--     sizes  = "array of positive integers",     -- required
--     draw   = {"wor|wr|poisson", "wor"},        -- one of these words
--     rng    = "Rng or nil",                     -- may be left out
--   })
--
-- A type is text, so the same words check a value and tell the user what was wanted:
--   any, nil, boolean, string, function, table, callable (a function or a table with __call)
--   number, integer, each with "positive" or "non-negative" before it or "in [0, 1)" after it;
--     numbers are finite unless the interval names inf
--   a|b|c               one of these strings
--   array of integers   a table 1..n of the type in the singular (not an Index)
--   Tensor, Index, ...  a class: an object whose metatable carries that __name
--   A or B              either

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local tables = require "ladies.base.tables"

local options = {}

-- Maps names of options and fields in other libraries to their names in this one.
local ELSEWHERE = {
  learning_rate = "lr", wd = "weight_decay", dropout_rate = "dropout",
  n_epochs = "epochs", num_epochs = "epochs", max_epochs = "epochs", num_workers = "workers",
  n_layers = "layers", num_layers = "layers", hidden_channels = "hidden", hidden_dim = "hidden",
  hidden_size = "hidden", in_channels = "inputs", in_features = "inputs", out_channels = "outputs",
  out_features = "outputs", num_neighbors = "samples", fanouts = "samples",
  size = "batch_size", dtype = "precision", neighbor = "graphsage", save = "save_model",
  x = "features", y = "labels", edge_index = "graph", adj = "graph", num_classes = "classes",
  num_nodes = "n_nodes", num_edges = "n_edges", rand = "rng", randn = "rng", randint = "rng",
  train_mask = "train", val_mask = "val", test_mask = "test",
}

--- options.nearest(word: string, list: string[]) -> string | nil: the word of `list` that was
-- probably meant by `word`, or nil when none is near: what is called so in other libraries; one
-- edit, or one in three letters, or three behind the same first three, or the beginning of it. Of
-- several the one of the fewest edits, then of the most first letters that are right, then the
-- shortest. The case of letters does not count.
function options.nearest(word, list)
  options.value("options.nearest", "the list", list, "table")
  local dashes, name = tostring(word):match "^(%-*)(.*)$"
  local here = ELSEWHERE[name:gsub("-", "_"):lower()]
  for i = 1, here and rawlen(list) or 0 do      -- ipairs may never end where there is an __index
    if rawget(list, i) == dashes .. here then return dashes .. here end
  end
  return core.nearest(word, list)
end

--- options.hint(word: string, list: string[], preface: string) -> string: the end of a message
-- about an unknown `word`: `; did you mean "x"?` with the nearest word of `list`, otherwise all of
-- them after `preface`.
function options.hint(word, list, preface)
  local near = options.nearest(word, list)
  if near then return ('; did you mean "%s"?'):format(near) end
  return #list > 0 and ("; %s: %s"):format(preface, table.concat(list, ", ")) or ""
end

-- Caches the last part of class names such as "ladies.Tensor", since every mini-batch asks for
-- some.
local last_parts = setmetatable({}, {__index = function(known, name)
  known[name] = name:match "[^.]*$"
  return known[name]
end})

--- options.class_of(value) -> string | nil: the name of the class of `value` ("Tensor", "Matrix",
-- ...), or nil.
function options.class_of(value)
  local meta = debug.getmetatable(value)
  local name = type(meta) == "table" and rawget(meta, "__name")
  return type(name) == "string" and last_parts[name] or nil
end

--- options.with_article(noun: any) -> string: the noun with its article, as "an Index".
function options.with_article(noun)
  noun = tostring(noun)
  return ((noun:find("^[AEIOUaeiou]") or noun == "Rng") and "an " or "a ") .. noun
end

-- Returns the remark of a value's class (`__remark` of its metatable), which ends a message that
-- refuses the value, or "" where the class has none.
local function remark(value)
  local meta = debug.getmetatable(value)
  local text = type(meta) == "table" and rawget(meta, "__remark")
  return text and (": " .. text) or ""
end

local function show(value)
  local kind = type(value)
  if kind == "string" then
    local quoted = ("%q"):format(value:sub(1, 40)):gsub("\\\n", "\\n")
    return quoted .. (#value > 40 and "..." or "")
  elseif kind == "table" or kind == "userdata" then
    return options.with_article(options.class_of(value) or kind) .. remark(value)
  elseif kind == "function" or kind == "thread" then
    return "a " .. kind
  end
  return value ~= value and "nan" or tostring(value)
end

-- A compiled type is a table: `text` (with its article), `test(value)` giving the value to use or
-- nil, for arrays `element`, for choices `words`, for alternatives `either` (a list of types).
local compile

local function always(value) return value end

local function of_type(kind)
  return function(value) if type(value) == kind then return value end end
end

local PLAIN = {
  any = always,
  table = of_type "table",
  string = of_type "string",
  ["function"] = of_type "function",
  callable = function(value)
    local meta = debug.getmetatable(value)
    if type(value) == "function" or (type(meta) == "table" and meta.__call) then return value end
  end,
}

-- Returns a test function for a type such as "positive integer" or "number in (0, inf]", or nil
-- when `text` is not a type of numbers.
local function numeric(text)
  local sign, unsigned = text:match("^(%a[%a-]*)%s+(%a.*)$")
  if sign ~= "positive" and sign ~= "non-negative" then sign, unsigned = nil, text end
  local noun, rest = unsigned:match("^(%a+)(.*)$")
  if noun ~= "number" and noun ~= "integer" then return nil end
  local open, low, high, close = rest:match("^ in ([%[(])(%S+), (%S+)([%])])$")
  low, high = tonumber(low) or -math.huge, tonumber(high) or math.huge
  if sign == "positive" then open, low = "(", 0 elseif sign == "non-negative" then low = 0 end
  local infinite = rest:find("inf", 1, true) ~= nil
  return function(value)
    if type(value) ~= "number" or value ~= value then return nil end
    if noun == "integer" then value = math.tointeger(value) end
    if not value or value < low or value > high then return nil end
    if (open == "(" and value == low) or (close == ")" and value == high) then return nil end
    if not infinite and (value == math.huge or value == -math.huge) then return nil end
    return value
  end
end

local function either(text)
  local types, texts, words = {}, {}, nil
  for part in (text .. " or "):gmatch("(.-) or ") do
    if part ~= "nil" then
      local one = compile(part)
      if not one then return nil end
      types[#types + 1], texts[#texts + 1], words = one, one.text, words or one.words
    end
  end
  return {text = table.concat(texts, " or "), either = types, words = words, test = function(value)
    for _, one in ipairs(types) do
      local used = one.test(value)
      if used ~= nil then return used end
    end
  end}
end

local function choice(text)
  local words, known = {}, {}
  for word in text:gmatch("[^|]+") do
    words[#words + 1], known[word] = word, word
  end
  local wanted = #words == 1 and ('"%s"'):format(words[1])
    or "one of " .. table.concat(words, ", ")
  return {text = wanted, words = words,
    test = function(value) return known[value] end}
end

local function array(text)
  local singular = text:gsub("xes%f[%A]", "x", 1)
  if singular == text and not text:find("|", 1, true) then
    singular = text:gsub("s%f[%A]", "", 1)
  end
  local element = compile(singular)
  return element and {text = "an array of " .. text, element = element, test = function(value)
    if type(value) ~= "table" or options.class_of(value) then return nil end
    local used = {}
    for key in pairs(value) do
      if math.type(key) ~= "integer" or key < 1 then return nil end
    end
    for i = 1, options.last(value) do
      used[i] = element.test(value[i])
      if used[i] == nil then return nil end
    end
    return used
  end}
end

-- Compiled types by their texts. They are made anew where the garbage collector took them: a text
-- that lists all methods is another one with each method of a user's own.
local compiled = setmetatable({}, {__mode = "v"})

-- Returns the compiled type of a text, or nil for a text that is none.
function compile(text)
  if compiled[text] then return compiled[text] end
  local made
  local elements = text:match("^array of (.*)$")
  if text:find(" or ", 1, true) then
    made = either(text)
  elseif elements then
    made = array(elements)
  elseif text:find("|", 1, true) then
    made = choice(text)
  elseif text == "boolean" then
    made = {text = "true or false", test = of_type "boolean"}
  else
    local test = PLAIN[text] or numeric(text)
    if not test and text:find("^%u") then
      test = function(value) if options.class_of(value) == text then return value end end
    end
    made = test and {text = options.with_article(text), test = test}
  end
  compiled[text] = made
  return made
end

--- options.last(list: table) -> integer: the greatest integer key of a table (0 for none), which
-- `#` need not find where there are holes.
function options.last(list)
  local last = 0
  for key in pairs(list) do
    if math.type(key) == "integer" and key > last then last = key end
  end
  return last
end

-- Describes what is wrong with `value`, whose place in the options is `name`, as the end of a
-- sentence.
local function complaint(name, value, wanted)
  for _, one in ipairs(wanted.either or {wanted}) do
    if one.element and type(value) == "table" and not options.class_of(value) then
      for i = 1, options.last(value) do
        if value[i] == nil or one.element.test(value[i]) == nil then
          return complaint(("%s[%d]"):format(name, i), value[i], one.element)
        end
      end
    end
  end
  local text = ("%s must be %s, got %s"):format(name, wanted.text, show(value))
  local near = wanted.words and type(value) == "string" and options.nearest(value, wanted.words)
  return near and ('%s; did you mean "%s"?'):format(text, near) or text
end

--- options.value(where, name, value, type_text: string) -> any: `value` as the type says (an
-- integral float becomes an integer), or an error that begins with `where` and calls it `name`.
function options.value(where, name, value, type_text)
  if value == nil and type_text:find(" or nil", 1, true) then return nil end
  local wanted = compile(type_text)
  if not wanted then
    errors.fail(('%s: %s: "%s" is no type; types are as "positive integer", "number in [0, 1]", '
      .. '"one|another": see ladies.help(ladies.options)'):format(where, name, type_text))
  end
  local used = wanted.test(value)
  if used == nil then errors.fail(("%s: %s"):format(where, complaint(name, value, wanted))) end
  return used
end

-- A function that is given this table in place of its options has options.check raise the spec as
-- an error; options.spec_of catches it.
local QUESTION = {}

--- options.spec_of(f, ...) -> table | nil: the spec with which a function checks its options, the
-- last of its arguments, behind those that are given here; nil where it fails before. The function
-- is called, up to that check.
function options.spec_of(f, ...)
  local arguments = table.pack(...)
  arguments[arguments.n + 1] = QUESTION
  local _, answer = errors.try(f, table.unpack(arguments, 1, arguments.n + 1))
  return type(answer) == "table" and rawget(answer, QUESTION) or nil
end

--- options.check(where, given, spec: table) -> table: a new table with the options of `given`,
-- checked, and the defaults of the others. `where` begins the messages; `spec` maps each key to a
-- type (required), to "type or nil", or to {type, default}. {type, default, quick = other} has
-- another default where the option `quick` is given. A key that the spec lacks is an error that
-- names the nearest known one.
function options.check(where, given, spec)
  given = given == nil and {} or given
  if rawequal(given, QUESTION) then error({[QUESTION] = spec}, 0) end
  if type(given) ~= "table" or options.class_of(given) then
    errors.fail(("%s: the options must be a %stable, got %s"):format(where,
      type(given) == "table" and "plain " or "", show(given)))
  end
  local known = tables.sorted_keys(spec)
  for _, key in ipairs(tables.sorted_keys(given)) do
    if spec[key] == nil then
      errors.fail(("%s: unknown option %s%s"):format(
        where, show(key), options.hint(key, known, "the options are")))
    end
  end
  local opts = {}
  for _, key in ipairs(known) do
    local one, value = spec[key], given[key]
    if type(one) ~= "table" then one = {one} end
    if value == nil and given.quick then value = one.quick end
    if value == nil then value = one[2] end
    opts[key] = options.value(where, tostring(key), value, one[1])
  end
  return opts
end

return options
