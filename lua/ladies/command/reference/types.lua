--- The types of parameters and options, in the words of LuaLS. An option's comes from the spec that
-- its function checks it by, or else, as that of a parameter, from what its signature says of it or
-- from its name: one name means one thing in the whole library, except where OTHERWISE tells.

local core = require "ladies_core"
local generate = require "ladies.data.generate"
local gcn = require "ladies.nn.gcn"
local help = require "ladies.prompt.help"
local options = require "ladies.base.options"
local samplers = require "ladies.samplers"
local tables = require "ladies.base.tables"

local types = {}

local DENSE, IDS, SPARSE = "ladies.Tensor", "ladies.Index", "ladies.Matrix"
local NUMBERS = DENSE .. "|" .. IDS .. "|table"
local FEATURES, LABELS = DENSE .. "|" .. SPARSE, IDS .. "|" .. DENSE .. "|" .. SPARSE

-- Type -> the names that mean it.
local NAMES = {
  [DENSE] = "tensor logits weights means shares mask gain gradient scores p pi r w t v u x y c " ..
    "h a b bias mean variance p_cols targets class_weights",
  [IDS] = "idx ids dst src labels pick order ends nodes part_of roots always offsets rows cols " ..
    "train val test seeds",
  [SPARSE] = "P A B U S adjacency adj",
  ["ladies.Rng"] = "rng",
  ["ladies.Dataset"] = "data dataset",
  [FEATURES] = "features",
  [LABELS] = "predicted",
  ["integer"] = "n_rows n_cols first last n k row column seed batches classes entries length " ..
    "height steps i dim most draws l limit n_ids n_labels first_id power width outputs cut " ..
    "number keep depth",
  ["number"] = "low high bound slope alpha eps exponent inside deviation lr tolerance from to " ..
    "momentum beta1 beta2 weight_decay restart q norm seconds perplexity",
  ["string"] = "name path base text kind how where folder what message word preface type_text " ..
    "part bytes context sha256 way draw union separator as",
  ["boolean"] = "debias replace count shared weighted self_loops transpose_b symmetric mapped " ..
    "record compress quick resume flag header has_best",
  ["function"] = "f forward backward check progress",
  ["ladies.Block"] = "block",
  ["ladies.MiniBatch"] = "batch",
  ["table"] = "table model config counters state fields spec blocks parts merged " ..
    "extra arrays list columns metadata shape samples",
  ["ladies.Tensor[]"] = "parameters inputs",
  ["any"] = "value e array object worst lock titles",
}

-- Those of one function, by "FUNCTION>NAME", where a name means something else.
local OTHERWISE = {
  ["ladies.comm.accumulate>optimizer"] = "ladies.Optimizer",
  ["ladies.comm.accumulate>place"] = "integer",
  ["ladies.comm.broadcast>root"] = "integer",
  ["Dataset:draw>node"] = "integer|string",
  ["Dataset:show>node"] = "integer|string",
  ["EdgeRange:add>both"] = "boolean",
  ["SafetensorsWriter:csr>prefix"] = "string",
  ["SafetensorsWriter:rows>dtype"] = "string",
  ["Dropout:forward>x"] = FEATURES,
  ["Gcn:layer>h"] = FEATURES .. "|table",
  ["GcnConv.transform_is_cheaper>inputs"] = "integer",
  ["GcnConv:forward>adj"] = SPARSE .. "|table",
  ["GcnConv:forward>h"] = FEATURES,
  ["Index:above>x"] = IDS .. "|integer",
  ["Index:below>x"] = IDS .. "|integer",
  ["Index:equals>x"] = IDS .. "|integer",
  ["Linear:forward>x"] = FEATURES,
  ["Matrix:add_diag>v"] = DENSE .. "|number",
  ["Matrix:dropout>p"] = "number",
  ["Matrix:pick_entries>idx"] = IDS .. "|" .. DENSE,
  ["Matrix:poisson_rows>first"] = IDS,
  ["Matrix:random_walk>p"] = "number",
  ["Matrix:sample_rows>first"] = IDS,
  ["Matrix:slice>first"] = IDS,
  ["Optimizer:set_mean>has"] = "boolean[]",
  ["SavedRun:logits>samples"] = "integer",
  ["SavedRun:logits>smooth"] = "boolean",
  ["Tensor:above>bound"] = DENSE .. "|number",
  ["Tensor:add_at_>v"] = DENSE .. "|number",
  ["Tensor:below>bound"] = DENSE .. "|number",
  ["Tensor:copy_rows_>rows"] = DENSE,
  ["Tensor:dropout>p"] = "number",
  ["Tensor:equals>u"] = DENSE .. "|number",
  ["Tensor:fill_>number"] = "number",
  ["Tensor:mul_at_>v"] = DENSE .. "|number",
  ["Tensor:rows>idx"] = IDS .. "|" .. DENSE,
  ["Tensor:set_>number"] = "number",
  ["ladies.block_diagonal>list"] = SPARSE .. "[]",
  ["ladies.csr>values"] = DENSE,
  ["ladies.data.random_split>n"] = "integer|ladies.Dataset",
  ["ladies.data.to_file>dtype"] = "string",
  ["ladies.data.to_file>memory"] = "integer|string",
  ["ladies.data.to_file>source"] = "string",
  ["ladies.experiment.same_model>names"] = "string[]",
  ["ladies.experiment.sampler>samples"] = "integer|integer[]",
  ["ladies.full>value"] = "number",
  ["ladies.inference.exact>data"] = "ladies.Dataset|ladies.Graph|" .. SPARSE,
  ["ladies.lab>sampler"] = "string|table|function",
  ["ladies.load_model>model"] = "table|" .. SPARSE,
  ["ladies.loss.cross_entropy>weights"] = DENSE .. "|table",
  ["ladies.loss.of>labels"] = LABELS,
  ["ladies.matrix>values"] = DENSE,
  ["ladies.metrics.accuracy>labels"] = LABELS,
  ["ladies.metrics.macro_f1>labels"] = LABELS,
  ["ladies.metrics.micro_f1>labels"] = LABELS,
  ["ladies.nn.class>fields"] = "string",
  ["ladies.nn.named_parameters>t"] = "table",
  ["ladies.nn.own_rows>h"] = FEATURES,
  ["ladies.nn.parameters>t"] = "table",
  ["ladies.nn.size>t"] = "table",
  ["ladies.run_folder>folder"] = "table",
  ["ladies.plot.bars>values"] = NUMBERS,
  ["ladies.plot.heat_map>M"] = DENSE .. "|" .. SPARSE .. "|table",
  ["ladies.plot.histogram>values"] = NUMBERS,
  ["ladies.plot.lines>values"] = NUMBERS,
  ["ladies.plot.scatter>points"] = DENSE .. "|table",
  ["ladies.projection.pca>X"] = DENSE,
  ["ladies.projection.tsne>X"] = DENSE,
  ["ladies.sampling.concat>list"] = IDS .. "[]",
  ["ladies.sampling.drift>t"] = "number",
  ["ladies.sampling.drift>from"] = "ladies.Rng",
  ["ladies.sampling.drift>to"] = "ladies.Rng",
  ["ladies.sampling.find>a"] = IDS,
  ["ladies.sampling.find>b"] = IDS,
  ["ladies.sampling.poisson>k"] = "number",
  ["ladies.sampling.union>a"] = IDS,
  ["ladies.sampling.union>b"] = IDS,
  ["ladies.samplers.mvs>inner"] = "function|table",
  ["ladies.show>x"] = "any",
  ["ladies.help>x"] = "any",
  ["ladies.help_text>x"] = "any",
  ["ladies.where>a"] = DENSE .. "|number",
  ["ladies.where>b"] = DENSE .. "|number",
  ["ladies.zip.gunzip>from"] = "string",
  ["ladies.zip.gunzip>to"] = "string",
}

-- Arguments, by name, with which functions come to the check of their options.
local function arguments_by_name()
  local data = generate.block_model{nodes = 20, classes = 2, features = 2, p_inside = 0.5,
    p_outside = 0.1}
  local P = data.graph:normalize "sym"
  return {
    data = data, dataset = data, P = P, A = P, model = gcn.new{inputs = 2, outputs = 2, layers = 1},
    idx = data.train, nodes = data.train, logits = core.ones(20, 2), path = "", base = "", n = 20,
    k = 2, p = core.ones(2), f = function() end, inputs = {core.ones(1)}, how = "10/10/80",
    kind = "sym", batch = {blocks = {}}, sampler = "ladies", name = "wordnet", given = data,
    inner = samplers.full(P, {layers = 1}),
    objects = {Dataset = data, Graph = data.graph, SavedRun = {}},
  }
end

local type_of_name

local function of_name(name)
  if not type_of_name then
    type_of_name = {}
    for type_text, names in pairs(NAMES) do
      for one in names:gmatch "%S+" do type_of_name[one] = type_text end
    end
  end
  return type_of_name[name]
end

local classes

-- One type of options.check as LuaLS has it; nil for what is none.
local function of_one(text)
  if text:find "|" then
    return '"' .. text:gsub("|", '"|"') .. '"'
  elseif text:find "^array of " then
    local singular = text:sub(#"array of " + 1):gsub("xes%f[%A]", "x"):gsub("s%f[%A]", "", 1)
    local element = of_one(singular)
    return element and (element:find "|" and "(%s)[]" or "%s[]"):format(element)
  elseif text:find "^%u" then
    return classes[text] and "ladies." .. text or nil
  end
  local word = text == "callable" and "function" or text:match "integer" or text:match "number"
    or text:match "^%l+$"
  local known = {integer = true, number = true, string = true, boolean = true, table = true,
    any = true, ["function"] = true, ["nil"] = true}
  return known[word] and word or nil
end

--- The type of a text such as "Tensor or nil" or "positive integer", as options.check knows it, or
-- "Tensor | number"; nil where it names none.
function types.of_text(text)
  classes = classes or help.classes()
  local list = {}
  for part in (text:gsub(" | ", " or ") .. " or "):gmatch "(.-) or " do
    local one = of_one(part)
    if not one then return nil end
    list[#list + 1] = one
  end
  return table.concat(list, "|")
end

-- The type that what a signature gives as a default has, "0.1", "true", "\"mean\"", or the class or
-- kind that stands in its place: "Rng".
local function of_default(text)
  if text == "true" or text == "false" then return "boolean" end
  if text:find '^"' then return "string" end
  if tonumber(text) or text:find "^%d+[/^]%d+$" then return "number" end
  if text:find "^{" then return "table" end
  return types.of_text(text)
end

--- The type of a parameter of a function, by what its signature says; nil where nobody does.
function types.of_parameter(function_name, name, text)
  local said = OTHERWISE[function_name .. ">" .. name]
  if said then return said end
  if name == "..." then return "any" end
  local default = text and text:match "=%s*(.-)$"
  local stated = types.of_text(default or text or "")
  if stated and (default or text):find "[%u|]" then return stated end
  return of_name(name) or default and of_default(default)
end

-- What the fields of classes are, where their names do not mean it everywhere.
local FIELDS = {
  ["Dataset.labels"] = LABELS,
  ["GcnConv.inputs"] = "integer", ["Linear.inputs"] = "integer",
  ["GcnConv.order"] = "string", ["Matrix.values"] = DENSE, ["SavedRun.model"] = "table",
  ["Dataset.known_hashes"] = "table", ["Matrix.looped"] = "boolean", ["Rows.dtype"] = "string",
  ["Dropout.p"] = "number", ["Optimizer.lr"] = "number",
  ndim = "integer", grad = DENSE, is_parameter = "boolean", requires_grad = "boolean",
  in_step = "boolean", nnz = "integer", edge = IDS, root = SPARSE, source = "string",
  multilabel = "boolean", class_names = "string[]", node_names = "string[]",
  feature_names = "string[]", directed = "boolean", notes = "string[]", n_nodes = "integer",
  plot = "table", graph = "ladies.Graph", n_edges = "integer", normalized = "table",
  row_degrees = DENSE,
  layers = "table[]", head = "table", layer = "function", n_layers = "integer",
  normalize = "string", lambda = "number", weight = DENSE, sampler = "function|table",
  batch_size = "integer", examinations = "table[]", comparison = "table", settings = "table",
  merged = "integer", momentum = "number",
}

--- The type of a field of a class; nil where nobody says it.
function types.of_field(class_name, field)
  return FIELDS[class_name .. "." .. field] or FIELDS[field] or of_name(field)
end

--- The type of an operator's second operand; nil for one that has none.
function types.of_operand(class_name, metamethod)
  if metamethod == "__len" or metamethod == "__unm" then return nil end
  if class_name == "Tensor" then return "ladies.Tensor|number" end
  return metamethod == "__concat" and "ladies.Index" or "ladies.Index|integer"
end

local by_name

--- The spec of a function's options; nil for one of core, which has none.
function types.spec_of(entry, parameters, class_name)
  if core.docs[entry.value] then return nil end
  by_name = by_name or arguments_by_name()
  local arguments = entry.is_method and {by_name.objects[class_name] or {}} or {}
  local n = #arguments
  for _, parameter in ipairs(parameters) do
    if parameter.is_options then break end
    n = n + 1
    arguments[n] = by_name[parameter.name]
  end
  return options.spec_of(entry.value, table.unpack(arguments, 1, n))
end

--- The options of a function, an array of {name =, type = (nil where nobody says it), optional =}
-- by their names: those that its code checks, or else, `documented`, those that its text has.
function types.of_options(entry, parameters, class_name, documented)
  local spec, list = types.spec_of(entry, parameters, class_name), {}
  for _, name in ipairs(spec and tables.sorted_keys(spec) or {}) do
    local type_text, has_default = spec[name], type(spec[name]) == "table"
    if has_default then type_text = type_text[1] end
    local optional = has_default or (" " .. type_text .. " "):find(" nil ", 1, true) ~= nil
    type_text = type_text:gsub(" or nil", "")
    list[#list + 1] = {name = name, type = types.of_text(type_text), optional = optional}
  end
  if spec then return list end
  for _, option in ipairs(documented) do
    list[#list + 1] = {
      name = option.name, optional = true,
      type = types.of_parameter(entry.name, option.name, option.text),
    }
  end
  return list
end

return types
