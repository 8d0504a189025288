--- Writes data sets in formats of other programs, most of them as text; ladies.data.load and
-- from_files read all of them back.

local core = require "ladies_core"
local array_file = require "ladies.base.array_file"
local checks = require "ladies.data.checks"
local EdgeData = require "ladies.data.edges"
local errors = require "ladies.base.errors"
local in_memory = require "ladies.data.in_memory"
local labels = require "ladies.data.labels"
local notes = require "ladies.data.notes"
local npz_layout = require "ladies.data.formats.npz.layout"
local options = require "ladies.base.options"
local own_folder = require "ladies.base.own_folder"
local targets = require "ladies.data.labels.targets"

local WHERE = "ladies.data.export"

-- Converts a Matrix to a Tensor; returns a Tensor as it is.
local function dense(matrix)
  return options.class_of(matrix) == "Matrix" and matrix:to_dense() or matrix
end

-- Returns how many nodes, or graphs, may be in the split.
local function units_of(data) return data.n_graphs or data.graph.n_nodes end

-- ---------------------------------------------------------------- PyTorch Geometric

-- Returns a part of the split of n nodes or graphs as PyTorch Geometric has it, a mask of n
-- booleans.
local function mask_of(units, n)
  local mask = {}
  for unit = 1, n do mask[unit] = 0 end
  for _, unit in ipairs(units:to_table()) do mask[unit] = 1 end
  return core.npz.bool(mask)
end

-- Returns the edges as an array of 2 x edges, sources and then targets (rows of the adjacency are
-- targets). Of a data set that knows its edges each is there, also those that share an entry.
local function edge_index(data)
  local A = data.graph.adjacency
  local from, to = A:col_of(), A:row_of()
  if data.edges then
    local entries = data.edges:entries()
    from, to = from[entries], to[entries]
  end
  return core.npz.int64(core.sampling.concat{from, to}, {shape = {2, #from}})
end

-- Returns times as whole numbers, also those that are counted from a number that is not 0.
local function times_of(edges)
  if (edges.time_origin or 0) == 0 then return core.npz.int64(edges.times + 1) end
  local all = edges.times:to_table()
  for i, time in ipairs(all) do all[i] = time + edges.time_origin end
  return core.npz.int64(all)
end

-- Adds what is known of edges, of types of nodes and of many graphs.
local function add_more(arrays, data)
  local edges = data.edges
  if edges then
    arrays.edge_attr, arrays.edge_feature_names = edges.features, edges.feature_names
    arrays.edge_type = edges.types and core.npz.int64(edges.types)
    arrays.edge_type_names = edges.type_names
    arrays.time = edges.times and times_of(edges)
    arrays.edge_weight = edges.weights
  end
  arrays.node_type = data.node_types and core.npz.int64(data.node_types)
  arrays.node_type_names = data.node_type_names
  arrays.batch = data.graph_of and core.npz.int64(data.graph_of)
end

-- Writes the arrays that PyTorch Geometric's Data has, without names, to an .npz or .safetensors
-- file; ladies.data.formats.npz.edges reads them.
local function write_pyg(path, data)
  local adjacency = data.graph.adjacency
  local weights = adjacency:entry_values()
  local y = data.labels and labels.kind_of(data.labels).array(data.labels)
  local arrays = {
    edge_index = edge_index(data), x = dense(in_memory(data.features)),
    y = options.class_of(y) == "Index" and core.npz.int64(y) or y or data.targets,
  }
  if data.labels then arrays.targets = data.targets end
  if not data.edges and #weights > 0 and (weights:min() ~= 1 or weights:max() ~= 1) then
    arrays.edge_weight = weights
  end
  add_more(arrays, data)
  for _, part in ipairs(checks.SPLIT) do
    if data[part] then arrays[part .. "_mask"] = mask_of(data[part], units_of(data)) end
  end
  local write = (array_file.is_safetensors(path) and core.safetensors or core.npz).write
  write(path, arrays)
end

-- ---------------------------------------------------------------- folders of tables

local function write_split(folder, data)
  local part_of = {}
  for _, part in ipairs(checks.SPLIT) do
    for _, node in ipairs(data[part] and data[part]:to_table() or {}) do part_of[node] = part end
  end
  if not next(part_of) then return end
  local lines = {}
  for unit = 1, units_of(data) do lines[unit] = part_of[unit] or "none" end
  core.file.write(folder .. "/split.csv", table.concat(lines, "\n") .. "\n")
end

-- Writes a file for each kind of names that the data set has, with one name a line.
local function write_names(folder, data)
  local function write(kind, text) core.file.write(("%s/%s.txt"):format(folder, kind), text) end
  if data.node_names then write("node_names", data.node_names:lines()) end
  for _, kind in ipairs{"class_names", "feature_names"} do
    local names = data[kind] or {}
    local text, lines = (table.concat(names, "\n") .. "\n"):gsub("\n", "\n")
    if #names > 0 and lines > #names then
      errors.fail(("%s: one of the %s has more than one line"):format(WHERE, kind))
    end
    if #names > 0 then write(kind, text) end
  end
end

-- Tells on stderr what a data set has that tables are not written with.
local function tell_left_out(path, data)
  local words = {}
  for _, part in ipairs(EdgeData.PARTS) do
    if data.edges and data.edges[part] and part ~= "weights" then words[#words + 1] = part end
  end
  local of_edges = #words > 0 and table.concat(words, ", ") .. " of edges" or nil
  local of_nodes = data.node_types and "types of nodes" or nil
  if not of_edges and not of_nodes then return end
  local list = {}
  notes.add({where = path}, list, '%s%s%s are not written; format = "pyg" and ladies.data.save '
    .. "keep them", of_edges or "", of_edges and of_nodes and " and " or "", of_nodes or "")
  notes.tell(list)
end

local writers = {}

writers["edge list"] = function(folder, data)
  core.text.write_edges(folder .. "/edges.csv", data.graph.adjacency)
  core.text.write(folder .. "/features.csv", dense(in_memory(data.features)))
end

writers["matrix market"] = function(folder, data)
  core.mtx.write(folder .. "/edges.mtx", data.graph.adjacency:transpose())
  core.mtx.write(folder .. "/features.mtx", in_memory(data.features))
end

--- ladies.data.export(data, path [, {format = "npz"}]): writes a data set for other programs.
-- {format = "npz"} (the default) writes one .npz file at `path`, as `ladies.data.save`; "pyg" an
-- .npz or .safetensors file of the arrays that PyTorch Geometric's Data has: edge_index, x, y,
-- train_mask, val_mask, test_mask, if they are not all one edge_weight, and those that there are of
-- edge_attr, edge_type, time, node_type and batch; "edge list" a folder of tables: edges.csv
-- (source, target and, if they are not all one, weight), features.csv, labels.csv, targets.csv,
-- graph_of.csv and split.csv, those that there are; a line tells what else is known of edges and is
-- not written. "matrix market" is the same with edges.mtx, whose rows are sources and columns
-- targets, and features.mtx. The folder is new, empty or one of an earlier export. Nodes and
-- classes are numbers from 0; several classes a node are columns of 0 and 1 behind the node. What
-- names there are, a name a line, are in node_names.txt, class_names.txt and feature_names.txt.
-- ladies.data.load and ladies.data.from_files read such a folder back, with {directed = "keep"} if
-- edges do not all go both ways; the latter with {classes = "columns"} if nodes have several
-- classes.
return function(data, path, given)
  options.value(WHERE, "the data set", data, "Dataset")
  options.value(WHERE, "the path", path, "string")
  local opts = options.check(WHERE, given, {format = {"npz|pyg|edge list|matrix market", "npz"}})
  if opts.format == "npz" then return npz_layout.write(path, data, {compress = true}) end
  if opts.format == "pyg" then return write_pyg(path, data) end
  tell_left_out(path, data)
  local _ <close> = own_folder.at(path):take "data set"
  writers[opts.format](path, data)
  if data.labels then
    labels.kind_of(data.labels).write(path .. "/labels.csv", data.labels)
  end
  if data.targets then targets.write(path .. "/targets.csv", data.targets, data.target_names) end
  if data.graph_of then
    local graphs = data.graph_of:to_table()
    for node, graph in ipairs(graphs) do graphs[node] = ("%d"):format(graph - 1) end
    core.file.write(path .. "/graph_of.csv", table.concat(graphs, "\n") .. "\n")
  end
  write_split(path, data)
  write_names(path, data)
end
