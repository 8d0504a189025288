--- Tests where tools/mutants.lua finds places for faults, and where it must not.
local lu = require "luaunit"
local sites_of = require "tools.mutants.sites"
local tables = require "ladies.base.tables"

local tests = {}

-- The sites of a text as "kind: from > to|to".
local function sites(text, language)
  return tables.map(sites_of(text, language), function(site)
    return ("%s: %s > %s"):format(site.kind, text:sub(site.at, site.last),
      table.concat(site.by, "|"))
  end)
end

function tests.test_c()
  lu.assertEquals(sites([[
    #define N 5
    /* 1 + 1 */
    _Static_assert(sizeof(int) == 4, "2 + 2");
    static float *half(const float *x, int n)
    {
        int i = -1; // 7
        __builtin_prefetch(x + 1);
        for (i = 0; i < n; i++)
            work(i, "a \" + 3");
        if (x && *x)
            return x;
        *x = 2.5f;
        return NULL;
    }
  ]], "c"), {
    "sign: - > ", "constant: 1 > 2|0", "constant: 0 > 1", "operator: < > <=|>=",
    "operator: ++ > --", [[statement: work(i, "a \" + 3") > ]], "condition: x && *x > ! (x && *x)",
    "operator: && > ||", "statement: *x = 2.5f > ", "constant: 2.5f > (2.5f + 1.0f)|(2.5f * 2.0f)",
  })
end

function tests.test_lua()
  lu.assertEquals(sites([==[
    -- 1 + 1
    local a, t = "2 < 3", {x = 4,
      f(),
    } --[[ 5 ]]
    a.b = #t
    f(a.b)
    local function g() return not a or -t end
    if a == [[6]] then f() elseif a ~= nil then f(
      t) end
    while true do break end
  ]==], "lua"), {
    "constant: 4 > 5|3", "statement: a.b = #t > ", "statement: f(a.b) > ", "negation: not > ",
    "operator: or > and", "sign: - > ", "condition: a == [[6]] > not (a == [[6]])",
    "operator: == > ~=", "condition: a ~= nil > not (a ~= nil)", "operator: ~= > ==",
    "condition: true > not (true)", "constant: true > false", "constant: break > ",
  })
end

--- Lines are those of the text, behind comments and strings of several lines too.
function tests.test_lines()
  local function lines(text, language)
    return tables.map(sites_of(text, language), function(site) return site.line end)
  end
  lu.assertEquals(lines("/*\n\n*/ x = 1;\n#if A \\\n B\nint y = 2;\n", "c"), {3, 6})
  lu.assertEquals(lines("--[[\n\n]] x = 1\n-- 3\ny = {[=[\n]]]=], 2}\n", "lua"), {3, 3, 6})
end

return tests
