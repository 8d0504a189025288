-- ladies bench models: the table of doc/models.md, every model beside the GCN. `ladies bench page
-- --page doc/models.md` writes it there.

local models = require "experiments.bench.models"
local table_command = require "experiments.bench.table_command"

table_command({
  name = "ladies bench models",
  about = "Measures every model beside the GCN: processor time, and bias and variance of logits.",
}, arg, models)
