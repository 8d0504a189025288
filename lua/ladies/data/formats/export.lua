--- Data sets for other programs, most of them as text: what ladies.data.load and from_files read.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local errors = require "ladies.base.errors"
local in_memory = require "ladies.data.in_memory"
local labels = require "ladies.data.labels"
local npz_layout = require "ladies.data.formats.npz_layout"
local options = require "ladies.base.options"
local own_folder = require "ladies.base.own_folder"
local pyg_export = require "ladies.data.formats.pyg_export"

local WHERE = "ladies.data.export"

local function join(folder, name) return folder .. "/" .. name end

local function write_split(folder, data)
  local part_of = {}
  for _, part in ipairs(checks.SPLIT) do
    for _, node in ipairs(data[part] and data[part]:to_table() or {}) do part_of[node] = part end
  end
  if not next(part_of) then return end
  local lines = {}
  for node = 1, data.graph.n_nodes do lines[node] = part_of[node] or "none" end
  core.file.write(join(folder, "split.csv"), table.concat(lines, "\n") .. "\n")
end

-- The names of nodes, classes and features that there are, a file for each kind, a name a line.
local function write_names(folder, data)
  local function write(kind, text) core.file.write(join(folder, kind .. ".txt"), text) end
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

local function dense(matrix)
  return options.class_of(matrix) == "Matrix" and matrix:to_dense() or matrix
end

local writers = {}

writers["edge list"] = function(folder, data)
  core.text.write_edges(join(folder, "edges.csv"), data.graph.adjacency)
  core.text.write(join(folder, "features.csv"), dense(in_memory(data.features)))
end

writers["matrix market"] = function(folder, data)
  core.mtx.write(join(folder, "edges.mtx"), data.graph.adjacency:transpose())
  core.mtx.write(join(folder, "features.mtx"), in_memory(data.features))
end

--- ladies.data.export(data, path [, {format = "npz"}]): writes a data set for other programs.
-- {format = "npz"} (the default) writes one .npz file at `path`, as `ladies.data.save`; "pyg" an
-- .npz or .safetensors file of the arrays that PyTorch Geometric's Data has: edge_index, x, y,
-- train_mask, val_mask, test_mask and, if they are not all one, edge_weight; "edge list" a folder
-- of tables: edges.csv (source, target and, if they are not all one, weight), features.csv,
-- labels.csv and split.csv; "matrix market" the same with edges.mtx, whose rows are sources and
-- columns targets, and features.mtx. The folder is
-- new, empty or one of an earlier export. Nodes and classes are numbers from 0; several classes a
-- node are columns of 0 and 1 behind the node. What names there are, a name a line, are in
-- node_names.txt, class_names.txt and feature_names.txt. ladies.data.load and
-- ladies.data.from_files read such a folder back, with {directed = "keep"} if edges do not all go
-- both ways; the latter with {classes = "columns"} if nodes have several classes.
return function(data, path, given)
  options.value(WHERE, "the data set", data, "Dataset")
  options.value(WHERE, "the path", path, "string")
  local opts = options.check(WHERE, given, {format = {"npz|pyg|edge list|matrix market", "npz"}})
  if opts.format == "npz" then return npz_layout.write(path, data, {compress = true}) end
  if opts.format == "pyg" then return pyg_export(path, data) end
  local _ <close> = own_folder.at(path):take "data set"
  writers[opts.format](path, data)
  labels.kind_of(data.labels).write(join(path, "labels.csv"), data.labels)
  write_split(path, data)
  write_names(path, data)
end
