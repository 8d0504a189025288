--- The types of results, in the words of LuaLS. A signature has them behind an arrow, and a C
-- function whose signature has none returns nothing; what others return stands here.

local types = require "ladies.command.reference.types"

local results = {}

--- Types, with commas between several results -> the functions that return them.
results.RETURNED = {
  [""] = "Dataset:show ladies.checkpoint.save ladies.comm.barrier ladies.comm.finish " ..
    "ladies.data.export ladies.data.save ladies.data.to_file " ..
    "ladies.errors.fail ladies.errors.own_file ladies.errors.pass_on " ..
    "ladies.experiment.resolve ladies.help ladies.save_model",
  ["ladies.Array"] = "ladies.npz.bool ladies.npz.bytes ladies.npz.float32 ladies.npz.float64 " ..
    "ladies.npz.float16 ladies.safetensors.bfloat16 " ..
    "ladies.npz.int16 ladies.npz.int32 ladies.npz.int64 ladies.npz.int8 ladies.npz.uint16 " ..
    "ladies.npz.uint32 ladies.npz.uint64 ladies.npz.uint8",
  ["ladies.Alias"] = "ladies.sampling.alias",
  ["ladies.Lock?, string?"] = "ladies.folder.lock",
  ["any"] = "ladies.errors.within ladies.no_grad ladies.options.value ladies.sampling.at_layer",
  ["boolean"] = "GcnConv.transform_is_cheaper Graph:is_symmetric ladies.errors.is_in_own_file " ..
    "ladies.errors.is_internal ladies.errors.is_interrupt ladies.inference.possible " ..
    "ladies.plot.available",
  ["boolean, any"] = "ladies.errors.try",
  ["boolean, number?, integer?, integer?"] = "Tensor:is_finite",
  ["boolean, string?"] = "Figure:save",
  ["boolean, table"] = "ladies.gradcheck",
  ["function"] = "ladies.loss.of ladies.nn.activation ladies.nn.initialize.by_name " ..
    "ladies.schedule.constant ladies.schedule.cosine ladies.schedule.step",
  ["integer"] = "Graph:n_isolated Graph:n_self_loops ladies.experiment.batch_size " ..
    "ladies.nn.size ladies.options.last",
  ["integer?"] = "Names:find Process:wait",
  ["integer?, string?"] = "Dataset:find_node",
  ["ladies.Batches"] = "ladies.batches",
  ["ladies.Block"] = "ladies.sampling.disjoint_union",
  ["ladies.Dataset"] = "Dataset:split ladies.data.row_normalized ladies.data.shuffled " ..
    "ladies.experiment.load ladies.experiment.read",
  ["ladies.Index"] = "SavedRun:nodes ladies.metrics.predictions ladies.partition.part_of",
  ["ladies.Index, integer"] = "Graph:components",
  ["ladies.Index, ladies.Index, ladies.Index"] = "ladies.data.class_split",
  ["ladies.Index[]"] = "ladies.partition.from_index",
  ["ladies.Index[], integer"] = "Graph:partition ladies.partition.of",
  ["ladies.Matrix"] = "Graph:normalize",
  ["ladies.Matrix, integer"] = "ladies.text.read_edges",
  ["ladies.MiniBatch"] = "ladies.sampling.check",
  ["ladies.Model"] = "ladies.experiment.model ladies.load_model ladies.nn.appnp ladies.nn.gat " ..
    "ladies.nn.gcnii ladies.nn.gin ladies.nn.mlp ladies.nn.sage ladies.nn.sgc",
  ["ladies.Module"] = "ladies.nn.gat_conv ladies.nn.gin_conv ladies.nn.sage_conv",
  ["ladies.GcnConv"] = "ladies.nn.gcn_conv",
  ["ladies.Named[]"] = "BatchNorm:named_parameters Dropout:named_parameters " ..
    "Gcn:named_parameters GcnConv:named_parameters LayerNorm:named_parameters " ..
    "Linear:named_parameters ladies.nn.named_parameters",
  ["ladies.Sampler"] = "ladies.experiment.sampler ladies.samplers.asgcn ladies.samplers.bandit " ..
    "ladies.samplers.bliss ladies.samplers.clustergcn ladies.samplers.fastgcn " ..
    "ladies.samplers.full ladies.samplers.grapes ladies.samplers.graphsage " ..
    "ladies.samplers.graphsaint ladies.samplers.labor ladies.samplers.ladies " ..
    "ladies.samplers.mvs ladies.samplers.pass ladies.samplers.shadow ladies.samplers.vrgcn",
  ["ladies.Tensor"] = "BatchNorm:forward Gcn:forward GcnConv:forward Graph:degrees " ..
    "LayerNorm:forward Linear:forward SavedRun:logits ladies.inference.exact " ..
    "ladies.inference.sampled ladies.inference.without_graph ladies.loss.binary_cross_entropy " ..
    "ladies.loss.cross_entropy ladies.smoothing.correct_and_smooth " ..
    "ladies.smoothing.label_propagation " ..
    "ladies.nn.initialize.glorot_normal ladies.nn.initialize.glorot_uniform " ..
    "ladies.nn.initialize.kaiming_normal ladies.nn.initialize.kaiming_uniform " ..
    "ladies.nn.initialize.zeros",
  ["ladies.Tensor|ladies.Matrix"] = "Dropout:forward ladies.nn.own_rows",
  ["ladies.Tensor|table"] = "Gcn:layer",
  ["ladies.Tensor[]"] = "BatchNorm:parameters Dropout:parameters Gcn:parameters " ..
    "GcnConv:parameters LayerNorm:parameters Linear:parameters ladies.nn.parameters",
  ["number"] = "ladies.metrics.accuracy ladies.metrics.f1 ladies.metrics.macro_f1 " ..
    "ladies.metrics.micro_f1",
  ["number|table"] = "Npz:numbers PickledArray:numbers Safetensors:numbers",
  ["string"] = "Dataset:describe ladies.errors.message ladies.errors.told ladies.help_text " ..
    "ladies.home ladies.options.hint ladies.sampling.hash",
  ["string?"] = "ladies.experiment.same_model ladies.inference.lacking ladies.options.class_of " ..
    "ladies.options.nearest ladies.show Figure:svg",
  ["string?, string?"] = "Figure:png Figure:text",
  ["string|table"] = "Npz:strings PickledArray:strings",
  ["string[]"] = "Npz:names Safetensors:names ladies.data.names ladies.reload",
  ["string[], string?"] = "ladies.plot.files",
  ["table"] = "Dataset:facts Laboratory:write ladies.auto ladies.checkpoint.run ladies.compare " ..
    "ladies.depth ladies.early_stopping ladies.experiment.configure ladies.experiment.options " ..
    "ladies.experiment.own ladies.experiment.stored ladies.log ladies.metrics.confusion " ..
    "ladies.nn.class ladies.options.check ladies.progress ladies.schedule.plateau " ..
    "ladies.schedule.warmup ladies.summary ladies.sweep ladies.timer ladies.train",
  ["table, ladies.Model"] = "ladies.experiment.run",
  ["table?"] = "Graph:name_of ladies.options.spec_of",
  ["ladies.Tensor|ladies.Index|ladies.Matrix|table"] = "ladies.npy.read",
  ["ladies.Index|ladies.Tensor, ..."] = "ladies.text.read",
}

local by_name

-- The types that a function of this name returns; nil where the table above does not have it.
local function stated(name)
  if not by_name then
    by_name = {}
    for type_text, names in pairs(results.RETURNED) do
      for one in names:gmatch "%S+" do by_name[one] = type_text end
    end
  end
  return by_name[name]
end

local function list_of(text)
  local list = {}
  for one in text:gmatch "[^,%s][^,]*" do
    list[#list + 1] = one == "..." and "any ..." or one
  end
  return list
end

--- The types of the results of the function of this name, whose signature is `form`, as an array;
-- nil for a function of Lua of which nobody says what it returns.
function results.of(name, form, is_core)
  local text = stated(name)
  if text then return list_of(text) end
  if not form.results then return is_core and {} or nil end
  local list = {}
  for _, result in ipairs(form.results) do
    local type_text = types.of_text(result.text) or types.of_parameter(name, result.text)
    if not type_text then return nil end
    list[#list + 1] = type_text .. (result.optional and "?" or "")
  end
  return list
end

return results
