--- Neural network modules: plain tables of parameters with a `forward`.

local Buffers = require "ladies.nn.buffers"
local fields = require "ladies.base.fields"
local initialize = require "ladies.nn.initialize"
local module = require "ladies.nn.module"

return {
  appnp = require "ladies.nn.appnp".new,
  gat = require "ladies.nn.gat".new,
  gcn = require "ladies.nn.gcn".new,
  gcnii = require "ladies.nn.gcnii".new,
  gin = require "ladies.nn.gin".new,
  mlp = require "ladies.nn.mlp".new,
  sage = require "ladies.nn.sage".new,
  sgc = require "ladies.nn.sgc".new,
  gat_conv = require "ladies.nn.gat_conv".new,
  gcn_conv = require "ladies.nn.gcn_conv".new,
  gin_conv = require "ladies.nn.gin_conv".new,
  sage_conv = require "ladies.nn.sage_conv".new,
  linear = require "ladies.nn.linear".new,
  dropout = require "ladies.nn.dropout".new,
  layer_norm = require "ladies.nn.layer_norm".new,
  batch_norm = require "ladies.nn.batch_norm".new,
  own_rows = require "ladies.nn.own_rows",
  activation = require "ladies.nn.activation".by_name,
  initialize = fields.of_module("ladies.nn.initialize", initialize),
  class = module.class,
  buffers = Buffers.new,
  parameters = module.parameters,
  named_parameters = module.named_parameters,
  size = module.size,
}
