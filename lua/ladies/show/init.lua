--- Shows the contents of a value over several lines, as the prompt does and `print` of a single
-- value.
--
-- tostring says in a line what a value is, for messages; this is the longer text. A class says it
-- in its metatable: __show(value [, width]) -> text. What a notebook shows besides this it says by
-- __html(value) and __svg(value) -> text or nil: tables and pictures. Here it is done for the
-- classes of the core, and for mini-batches, which are plain tables.

local core_classes = require "ladies.base.core_classes"
local errors = require "ladies.base.errors"
local numbers = require "ladies.show.numbers"
local options = require "ladies.base.options"
local show_matrix = require "ladies.show.matrix"
local show_mini_batch = require "ladies.show.mini_batch"
local show_tensor = require "ladies.show.tensor"

local show = {}

-- The number of columns that are assumed where output does not go to a terminal.
local STANDARD_WIDTH = 80

local host = package.loaded.ladies_host

-- Returns the text of an Index: its range, and its first and last ids; for one that is closed, its
-- tostring.
local function show_index(x, width)
  local ok, text = errors.try(function()
    if #x == 0 then return "Index 0" end
    local ids = numbers.ends(#x, function(first, last)
      local list = x:slice(first, last):to_table()
      for i, id in ipairs(list) do list[i] = tostring(id) end
      return list
    end, width)
    return ("Index %d, %d to %d\n%s"):format(#x, x:min(), x:max(), ids)
  end)
  return ok and text or tostring(x)
end

local classes = core_classes()
classes.Tensor.__html = show_tensor.html
for name, text in pairs{Tensor = show_tensor.text, Index = show_index, Matrix = show_matrix} do
  classes[name].__show = function(value, width) return text(value, width or show.width()) end
end

--- Returns the number of columns of the terminal.
function show.width()
  return host and host.width() or STANDARD_WIDTH
end

local function is_block(value)
  return type(value) == "table" and options.class_of(rawget(value, "adj")) == "Matrix"
end

-- Tells whether a value is a mini-batch: a plain table without a class, which is recognized by its
-- fields.
local function is_mini_batch(value)
  local blocks = type(value) == "table" and rawget(value, "blocks")
  if type(blocks) ~= "table" or rawlen(blocks) == 0 then return false end
  for l = 1, rawlen(blocks) do
    if not is_block(rawget(blocks, l)) then return false end
  end
  local input = rawget(value, "input")
  return options.class_of(rawget(value, "output")) == "Index"
    and (input == nil or options.class_of(input) == "Index")
end

--- ladies.show(x: any [, width: integer]) -> string | nil: what is in x, over several lines of at
-- most `width` columns (those of the terminal): the corner of a Tensor and its range, the ends of
-- an Index, the entries of a Matrix or where they lie, the layers of a mini-batch or a model, the
-- counts of a data set. nil for anything else. `print(x)` and the prompt show it; tostring(x) is
-- one line, but for a mini-batch, which is a plain table.
function show.text(x, width)
  width = options.value("ladies.show", "the width", width, "positive integer or nil")
    or show.width()
  local meta = debug.getmetatable(x)
  local own = type(meta) == "table" and rawget(meta, "__show")
  if own then return own(x, width) end
  return is_mini_batch(x) and show_mini_batch.text(x) or nil
end

--- Describes a mini-batch in one line, as tostring does other values; nil for anything else.
function show.line(x)
  return is_mini_batch(x) and show_mini_batch.head(x) or nil
end

-- The metamethods that make what a notebook shows, by its MIME type.
local KINDS = {["text/html"] = "__html", ["image/svg+xml"] = "__svg"}

--- Returns what a notebook shows of a value besides its text, {MIME type = text}: tables as HTML,
-- figures as SVG; an empty table for a value that has only a text.
function show.rich(x)
  if is_mini_batch(x) then return {["text/html"] = show_mini_batch.html(x)} end
  local data, meta = {}, debug.getmetatable(x)
  for kind, name in pairs(type(meta) == "table" and KINDS or {}) do
    local own = rawget(meta, name)
    data[kind] = own and own(x)
  end
  return data
end

return show
