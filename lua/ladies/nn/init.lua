--- Gathers the layers and models of the library (ladies.nn): plain tables of parameters with a
-- function `forward`.

local Buffers = require "ladies.nn.buffers"
local fields = require "ladies.base.fields"
local initialize = require "ladies.nn.initialize"
local module = require "ladies.nn.module"

return {
  appnp = require "ladies.nn.appnp".new,
  embedding = require "ladies.nn.embedding".new,
  gat = require "ladies.nn.gat".new,
  gatv2 = require "ladies.nn.gatv2".new,
  gcn = require "ladies.nn.gcn".new,
  gcnii = require "ladies.nn.gcnii".new,
  gin = require "ladies.nn.gin".new,
  gine = require "ladies.nn.gine".new,
  mlp = require "ladies.nn.mlp".new,
  pna = require "ladies.nn.pna".new,
  rgcn = require "ladies.nn.rgcn".new,
  sage = require "ladies.nn.sage".new,
  sgc = require "ladies.nn.sgc".new,
  transformer = require "ladies.nn.transformer".new,
  gat_conv = require "ladies.nn.gat_conv".new,
  gatv2_conv = require "ladies.nn.gatv2".conv,
  gcn_conv = require "ladies.nn.gcn_conv".new,
  gin_conv = require "ladies.nn.gin_conv".new,
  gine_conv = require "ladies.nn.gine".conv,
  pna_conv = require "ladies.nn.pna".conv,
  rgcn_conv = require "ladies.nn.rgcn".conv,
  sage_conv = require "ladies.nn.sage_conv".new,
  transformer_conv = require "ladies.nn.transformer".conv,
  linear = require "ladies.nn.linear".new,
  link_decoder = require "ladies.nn.link_decoder".new,
  dropout = require "ladies.nn.dropout".new,
  layer_norm = require "ladies.nn.layer_norm".new,
  batch_norm = require "ladies.nn.batch_norm".new,
  pooling = require "ladies.nn.pooling".new,
  own_rows = require("ladies.nn.own_nodes").rows,
  activation = require "ladies.nn.activation".by_name,
  initialize = fields.of_module("ladies.nn.initialize", initialize),
  class = module.class,
  buffer = Buffers.declare,
  buffers = Buffers.new,
  parameters = module.parameters,
  named_parameters = module.named_parameters,
  size = module.size,
}
