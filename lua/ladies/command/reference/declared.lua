--- The declarations at the top of the annotations, as text: kinds of tables and functions that are
-- no classes of the library, and classes without methods. Signatures may name them.
return [[
---@class ladies.Block
---@field adj ladies.Matrix
---@field dst ladies.Index
---@field src ladies.Index

---@class ladies.MiniBatch
---@field blocks ladies.Block[]
---@field input ladies.Index
---@field output ladies.Index
---@field loss_nodes? ladies.Index
---@field loss_weight? ladies.Tensor
---@field after_step? fun(batch: ladies.MiniBatch, model: ladies.Model)

---@alias ladies.Sampler fun(seeds: ladies.Index, rng: ladies.Rng): ladies.MiniBatch
---@alias ladies.Batches fun(): ladies.MiniBatch

---@class ladies.Named
---@field name string
---@field tensor ladies.Tensor

---@class ladies.Module
---@field parameters fun(self: ladies.Module): ladies.Tensor[]
---@field named_parameters fun(self: ladies.Module): ladies.Named[]
---@field forward fun(self: ladies.Module, ...): ladies.Tensor

---@class ladies.Model: ladies.Module
---@field n_layers integer

---@class ladies.Alias

---@class ladies.Array

---@class ladies.Lock

---@class ladies.Way
]]
