--- The defaults that the library's functions have for their options, as they declare them to
-- ladies.options: {["name of the function"] = "option=value option=value"}. Nothing is computed.
local options = require "ladies.base.options"

local STOP = {}            -- what a declaration ends its function with
local declared = {}

local function text_of(value)
  if type(value) ~= "table" then return tostring(value) end
  return "{" .. table.concat(value, ",") .. "}"
end

local function declare(where, _, spec)
  local list = {}
  for key, type_text in pairs(spec) do
    if type(type_text) == "table" and type_text[2] ~= nil and type(type_text[2]) ~= "function" then
      list[#list + 1] = key .. "=" .. text_of(type_text[2])
    end
  end
  table.sort(list)
  declared[where] = table.concat(list, " ")
  error(STOP, 0)
end

local followers = require "experiments.followers"
local ladies = require "ladies"
local paper = require "experiments.paper"
local progress = require "ladies.base.progress"
local early_stopping = require "ladies.training.loop.early_stopping"

local A = ladies.matrix{n_rows = 2, n_cols = 2, rows = ladies.index{1, 2},
  cols = ladies.index{2, 1}}
local data = ladies.data.from_arrays{graph = A, features = ladies.ones(2, 1),
  labels = ladies.index{1, 2}, train = ladies.index{1}, val = ladies.index{2}}
local nodes = ladies.index{1}
local model = ladies.nn.gcn{inputs = 1, outputs = 2}

local CALLS = {
  {followers.bliss}, {followers.gcnii}, {followers.labor}, {followers.measure},
  {followers.methods}, {followers.models}, {followers.rns},
  {ladies.auto}, {paper.ablate}, {ladies.compare}, {ladies.depth}, {paper.costs}, {paper.figures},
  {paper.report},
  {paper.reproduce}, {ladies.sweep}, {paper.table3}, {paper.variance},
  {ladies.batches, nodes}, {ladies.train}, {ladies.experiment.configure},
  {early_stopping.new}, {progress.new},
  {ladies.inference.sampled, model, data, nodes}, {ladies.partition.of, A, 1},
  {data.graph.normalize, data.graph, "sym"}, {ladies.sampling.check, {}, "here"},
  {ladies.samplers.clustergcn, A}, {ladies.samplers.fastgcn, A}, {ladies.samplers.graphsage, A},
  {ladies.samplers.graphsaint, A},
  {ladies.samplers.labor, A}, {ladies.samplers.ladies, A}, {ladies.samplers.pooled, A},
  {ladies.samplers.pps, A}, {ladies.samplers.rns, A}, {ladies.samplers.shadow, A},
  {ladies.samplers.vrgcn, A},
  {ladies.samplers.asgcn, A}, {ladies.samplers.bandit, A}, {ladies.samplers.bliss, A},
  {ladies.samplers.grapes, A}, {ladies.samplers.mvs, print}, {ladies.samplers.pass, A},
  {ladies.schedule.step}, {ladies.schedule.cosine},
  {ladies.nn.appnp}, {ladies.nn.gat}, {ladies.nn.gat_conv}, {ladies.nn.gcn}, {ladies.nn.gcn_conv},
  {ladies.nn.gcnii}, {ladies.nn.gin}, {ladies.nn.gin_conv}, {ladies.nn.linear}, {ladies.nn.mlp},
  {ladies.nn.sage}, {ladies.nn.sage_conv}, {ladies.nn.sgc},
  {ladies.generate.power_law}, {ladies.generate.block_model},
  {ladies.data.random_split, 2}, {ladies.data.class_split, data}, {ladies.data.shuffled, data},
  {ladies.data.save, data, "x.npz"}, {ladies.data.export, data, "x"}, {ladies.data.from_arrays},
  {ladies.data.from_files}, {ladies.plot.figure},
}

local check = options.check
options.check = declare
for _, call in ipairs(CALLS) do
  local words = table.move(call, 2, #call, 1, {})
  words[#words + 1] = {}
  local _, raised = pcall(call[1], table.unpack(words))
  assert(raised == STOP, raised)
end
options.check = check

return declared
