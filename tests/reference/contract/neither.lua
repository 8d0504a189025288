--- Functions that take no tensor and no matrix, which the gradient contract has nothing to say of.
local core = require "ladies_core"

local entries = {}

local function without(prefix, names)
  for name in names:gmatch "%S+" do entries[prefix .. name] = "takes no tensor and no matrix" end
end

without("", [[
  auto batches bfloat16_units blamed_line blas cancel_at clock compare default_places depth
  edge_one_way edge_order
  early_stopping exists files full hash home index interruption is_interruption isatty lab
  limit_entries load_model log machine memory memory_count memory_counted memory_fail_at
  memory_trim mkdir nearest ones op printable progress range real_path reload rng room room_kept
  room_use rows_in_parts run_folder same_file saved_run segments set_home step summary sweep tensor
  threads timer train truncate vector_units watch_loops zeros
]])
for _, name in ipairs{"Index.__div", "Matrix.__div", "Matrix.__mul", "Tensor.__idiv"} do
  entries[name] = "says what there is in place of an operator that is absent"
end
entries.graph_rows = "takes matrices without weights, and refuses others"
without("checkpoint.", "load run save")
without("comm.", "accumulate barrier finish gather")
without("data.", "check_files class_split from_files load names random_split split to_file")
without("errors.", [[
  fail is_in_own_file is_internal is_interrupt message noted own_file packed pass_on
  text told unpacked
]])
without("experiment.", [[
  batch_size configure load model options own read resolve run same_model sampler stored task
  with_features
]])
without("file.", "changed forget read write writer")
without("folder.", "bytes free lock make remove sync")
without("generate.", "block_model power_law power_law_file weights")
without("inference.", "in_time lacking possible way")
without("links.", "distinct_negatives negatives")
without("loss.", "of")
without("mtx.", "read")
without("nn.", [[
  activation appnp batch_norm buffer buffers class dropout gat gat_conv gatv2 gatv2_conv embedding
  gcn gcn_conv gcnii gin gin_conv gine gine_conv layer_norm linear link_decoder mlp pna pna_conv
  pooling rgcn rgcn_conv sage sage_conv sgc transformer transformer_conv
]])
without("nn.initialize.", "by_name")
without("npy.", "read")
without("npz.", "bytes open reader")
without("options.", "class_of hint last nearest spec_of with_article")
without("partition.", "from_index part_of")
without("pickle.", "decode load")
without("plot.", "available files")
without("process.", "exists lives start")
without("safetensors.", "open writer")
without("sampling.", "concat drift find permutation put_first uniform union unique")
without("samplers.", "temporal")
without("schedule.", "constant cosine plateau step warmup")
without("task.", [[
  default_name edge_classification edge_regression graph_classification graph_regression
  link_prediction new node_classification node_regression of
]])
without("text.", "fields line_starts names read read_edges reader")
without("zip.", "gunzip open sha256")
without("Index", [[
  .__add .__concat .__eq .__gc .__idiv .__index .__len .__mod .__mul .__show .__sub .__tostring
  :above :below :check_unique :counts :equals :group :hash :max :min :repeated :slice :sort
  :to_table :to_tensor
]])
without("Room", ".__close .__gc")
without("Scope", ".__close")
without("Rng", ".__index .__tostring :at :below :fork :normal :uniform :uniform_of")
without("Alias", ".__gc .__index .__len .__tostring")
without("Step", ".__close .__gc .__index .__len .__tostring :close :seconds")
without("optim.", "average own")
without("Optimizer", [[
  .__gc .__index .__tostring :accumulate :clear :clip_norm :groups :keep :padded_values :part
  :set_lr :squares :state :step :sums
]])
without("Workers", ".__close .__gc .__index .__tostring :close :next")
without("Npz", [[
  .__close .__gc .__index .__tostring :close :dtype :has :index :names :numbers :object :rows
  :shape :strings :tensor :text
]])
without("Safetensors", [[
  .__close .__gc .__index .__tostring :close :csr :dtype :has :identity :index :metadata :names
  :numbers :rows :shape :tensor :text
]])
without("ArrayReader", ".__close .__gc .__index :close :ids :rows")
without("TableReader", ".__close .__gc .__index :close :next")
without("GraphRows", ".__gc .__index .__tostring :missing")
if core.edge_runs then   -- a plugin
  without("", "edge_runs")
  without("EdgeRuns", ".__close .__gc .__index :add :close :counts :matrix :width")
end
without("FileWriter", ".__close .__gc .__index :add :close :commit")
without("SafetensorsWriter", [[
  .__close .__gc .__index :add_csr :add_rows :close :commit :csr :put :rows
]])
without("Rows", [[
  .__gc .__index .__tostring :hash :is_finite :missing :prefetch :rows :slice :to_tensor
]])
without("Array", ".__index .__tostring")
without("PickledArray", [[
  .__gc .__index .__tostring :dtype :index :numbers :shape :strings :tensor
]])
without("Names", ".__gc .__index .__len .__tostring :add :find :lines")
without("Process", ".__close .__gc .__index :stop :wait")
without("Zip", ".__close .__gc .__index :close :members :unpack")
without("Dataset", ".__len :find_node :split")
without("EdgeData", [[
  .__len .__tostring :attach :attach_all :entries :hash :new :positions
]])
without("graph", ".__len")
for class in ("Buffer Input Lock Parcel Pickle Table"):gmatch "%a+" do
  without(class, ".__close .__gc")
end
without("Edges", ".__len .__tostring :incident :others :rows")
for class in ("Gcn GcnConv Linear LinkDecoder LayerNorm BatchNorm Dropout"):gmatch "%a+" do
  without(class, ".__html .__show .__tostring")
end
without("Gcn", ".__words")
without("graph.", "__tostring")

return entries
