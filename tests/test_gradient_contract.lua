--- No gradient is dropped without a word: what a function cannot pass on, it refuses.

local lu = require "luaunit"
local ladies = require "ladies"

local tests = {}

local REFUSED = "%S+: the %S+ carries a gradient, which (%S+) does not pass on; use :detach%(%)"

function tests.test_the_refusal_names_the_function_as_its_documentation_does()
  local _ <close> = ladies.step()
  local w = ladies.ones(2):requires_grad_()
  local call = w.clamp
  local ok, message = pcall(call, w, 0, 1)
  lu.assertFalse(ok)
  lu.assertEquals(message:match(REFUSED), "clamp")
  local A = ladies.matrix{n_rows = 1, n_cols = 2, rows = ladies.index{1, 1},
                          cols = ladies.index{1, 2}}
  lu.assertErrorMsgContains("matrix: the tensor carries a gradient, which matrix does not",
                            ladies.matrix, {n_rows = 1, n_cols = 2, rows = ladies.index{1, 1},
                                            cols = ladies.index{1, 2}, values = w})
  lu.assertErrorMsgContains("draw_cols: the matrix carries a gradient, which draw_cols",
                            function() return A:with_values(w):draw_cols(ladies.index{1}, 1) end)
end

function tests.test_a_parameter_is_a_constant_where_nothing_is_recorded()
  local w = ladies.ones(2):requires_grad_()
  local function use() return w:clamp(0, 1) end
  use()
  do
    local unrecorded <close> = ladies.step{record = false}
    lu.assertNotNil(unrecorded)
    use()
  end
  local _ <close> = ladies.step()
  lu.assertError(use)
  ladies.no_grad(use)
  w:detach():clamp(0, 1)
  w:sum():backward()
  use()  -- the step has no further use for gradients
end

os.exit(lu.LuaUnit.new():runSuiteByInstances{{"gradient_contract", tests}}, true)
