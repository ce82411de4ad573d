package yaml

import (
	"testing"

	"github.com/deed-project/deed/value"
)

// rules has one document per case and the value that Kubernetes reads: the output of sigs.k8s.io/yaml v1.6.0. The number is that of the
// rule in the package comment.
var rules = []struct{ rule, text, want string }{
	{"1 booleans", `[y, Y, yes, Yes, YES, on, On, ON, true, True, TRUE]`, `[true,true,true,true,true,true,true,true,true,true,true]`},
	{"1 booleans", `[n, N, no, No, NO, off, Off, OFF, false, False, FALSE]`, `[false,false,false,false,false,false,false,false,false,false,false]`},
	{"1 no booleans", `[yEs, oN, tRUE, t, f, 'y', "no", 'true']`, `["yEs","oN","tRUE","t","f","y","no","true"]`},
	{"1 null", `[null, Null, NULL, ~, nULL, 'null', "~"]`, `[null,null,null,null,"nULL","null","~"]`},
	{"1 nothing is null", "a:\nb: ~\nc: ''\nd: {e, f: }\n", `{"a":null,"b":null,"c":"","d":{"e":null,"f":null}}`},
	{"1 nothing in a list", "- \n-\n- - \n", `[null,null,[null]]`},
	{"2 octal", `[012, 0o12, 0O12, -012, +012, 00, 0]`, `[10,10,10,-10,10,0,0]`},
	{"2 not octal", `[08, 09.5, 0o8, 0778]`, `[8,9.5,"0o8",778]`},
	{"2 hexadecimal", `[0x1f, 0X1F, -0x1f, +0x1F, 0x, 0xg, 0x1_f]`, `[31,31,-31,31,"0x","0xg",31]`},
	{"2 binary", `[0b11, -0b11, 0B11, 0b12, 0b-1, 0b]`, `[3,-3,3,"0b12",-1,"0b"]`},
	{"2 underscores", `[1_000, 1_, 1__0, _1, -_1, 1_000.5, 0x_1f, 1_e3]`, `[1000,1,10,"_1",-1,1000.5,31,1000]`},
	{"2 signs", `[+1, -1, --1, +, -, +-1]`, `[1,-1,"--1","+","-","+-1"]`},
	{"3 integral floats", `[1.0, 1e3, 1E3, 1e+3, 1., +1.0, -0.0, 1.5e1, 100e-2]`, `[1,1000,1000,1000,1,1,0,15,1]`},
	{"3 floats", `[1.5, .5, -.5, +.5, 1e-3, 5.e-1, 1.5e-7]`, `[1.5,0.5,-0.5,0.5,0.001,0.5,1.5e-7]`},
	{"3 no floats", `[., .e1, 1e, e1, 1.2.3, 1.5.0, inf, nan, Infinity, +Inf]`, `[".",".e1","1e","e1","1.2.3","1.5.0","inf","nan","Infinity","+Inf"]`},
	{"3 large integers", `[9223372036854775807, -9223372036854775808, 9223372036854775808, 18446744073709551615, 18446744073709551616]`, `[9223372036854775807,-9223372036854775808,9223372036854776000,18446744073709552000,18446744073709552000]`},
	{"3 large floats", `[1e18, 1e19, 1e20, 1e21, 1e308, 1.2345678901234568e18, 0x7fffffffffffffff, 0xffffffffffffffff]`, `[1000000000000000000,10000000000000000000,100000000000000000000,1e+21,1e+308,1234567890123456800,9223372036854775807,18446744073709552000]`},
	{"3 overflow", `[1e400, -1e400, 1e-400, .1e400, 0x1ffffffffffffffff]`, `["1e400","-1e400",0,".1e400","0x1ffffffffffffffff"]`},
	{"4 timestamps", `[2001-12-14, 2001-12-14t21:59:43.10-05:00, 2001-12-14 21:59:43.10, 2001-12-14T21:59:43Z, 2001-1-1]`, `["2001-12-14","2001-12-14t21:59:43.10-05:00","2001-12-14 21:59:43.10","2001-12-14T21:59:43Z","2001-1-1"]`},
	{"4 base 60", `[12:30:45, 190:20:30.15, 1:1]`, `["12:30:45","190:20:30.15","1:1"]`},
	{"5 names", "1: a\n012: b\n0x1f: c\n1_000: d\n-1: e\n", `{"-1":"e","1":"a","10":"b","1000":"d","31":"c"}`},
	{"5 names", "Yes: a\nOFF: b\n'y': c\n", `{"false":"b","true":"a","y":"c"}`},
	{"5 names", "n: a\non: b\n", `{"false":"a","true":"b"}`},
	{"5 float names", "1.5: a\n1e3: b\n.5: c\n1e21: d\n3.14159265358979: e\n1.0: f\n1e400: g\n", `{"0.5":"c","1":"f","1.5":"a","1000":"b","1e+21":"d","1e400":"g","3.1415927":"e"}`},
	{"5 float names", ".inf: a\n-.inf: b\n.nan: c\n", `{"-.inf":"b",".inf":"a",".nan":"c"}`},
	{"5 timestamp names", "2001-12-14: a\n2001-12-14 21:59:43: b\n", `{"2001-12-14":"a","2001-12-14 21:59:43":"b"}`},
	{"5 quoted names", "'': a\n\"~\": b\n'null': c\n", `{"":"a","null":"c","~":"b"}`},
	{"5 names by alias", "a: &x 1\n*x : b\n", `{"1":"b","a":1}`},
	{"6 tags", `[!!str 12, !!str true, !!str , !!str null, !!int '12', !!int 0x1f, !!bool yes, !!bool 'no', !!null '', !!null ~, !!float 1, !!float '1.5', !!timestamp 2001-01-01]`, `["12","true","","null",12,31,true,false,null,null,1,1.5,"2001-01-01"]`},
	{"6 long tags", `[!<tag:yaml.org,2002:str> 12, !<tag:yaml.org,2002:int> '12']`, `["12",12]`},
	{"6 unknown tags", "- !foo 12\n- !foo 'x'\n- !!foo true\n- !foo\n- !foo [1]\n- !foo {a: 1}\n- !!set {a, b}\n- !!omap [a: 1]\n- !!map [1]\n", `["12","x","true","",[1],{"a":1},{"a":null,"b":null},[{"a":1}],[1]]`},
	{"6 binary", `[!!binary aGk=, !!binary 'aGk=', !!binary "w6k="]`, `["hi","hi","é"]`},
	{"6 binary in lines", "a: !!binary |\n  aGVsbG8s\n  IHdvcmxk\n!!binary Yg== : c\n", `{"a":"hello, world","b":"c"}`},
	{"6 tagged names", "!!str 1: a\n!!str y: b\n!foo 2: c\n", `{"1":"a","2":"c","y":"b"}`},
	{"7 aliases", "a: &x {b: 1}\nc: *x\nd: [*x, *x]\n", `{"a":{"b":1},"c":{"b":1},"d":[{"b":1},{"b":1}]}`},
	{"7 anchor set again", "a: &x 1\nb: *x\nc: &x 2\nd: *x\n", `{"a":1,"b":1,"c":2,"d":2}`},
	{"7 anchor of a name", "&k a: 1\nb: *k\n", `{"a":1,"b":"a"}`},
	{"7 merge", "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n", `{"a":{"b":1,"c":2},"d":{"b":1,"c":3}}`},
	{"7 merge list", "- &x {b: 1, c: 2}\n- &y {c: 3, d: 4}\n- <<: [*x, *y]\n- <<: [*y, *x]\n  b: 5\n", `[{"b":1,"c":2},{"c":3,"d":4},{"b":1,"c":2,"d":4},{"b":5,"c":3,"d":4}]`},
	{"7 two merges", "- &x {b: 1, c: 2}\n- &y {c: 3, d: 4}\n- <<: *x\n  <<: *y\n", `[{"b":1,"c":2},{"c":3,"d":4},{"b":1,"c":3,"d":4}]`},
	{"7 merge in place", "<<: {a: 1}\nb: 2\n", `{"a":1,"b":2}`},
	{"7 merge in merge", "- &x {a: 1, b: 1}\n- &y {<<: *x, b: 2}\n- {<<: *y, c: 3}\n", `[{"a":1,"b":1},{"a":1,"b":2},{"a":1,"b":2,"c":3}]`},
	{"7 merge that changes nothing", "a: 1\n<<: {a: 1, b: 2}\n", `{"a":1,"b":2}`},
	{"7 no merge", "'<<': {a: 1}\nb: <<\n", `{"<<":{"a":1},"b":"<<"}`},
	{"7 merge by tag", "!!merge <<: {a: 1}\n", `{"a":1}`},
	{"strings", "a: x y\nb: 'it''s'\nc: \"a\\tb\\u00e9\\x41\\n\"\nd: x\n  y\n\n  z\n", `{"a":"x y","b":"it's","c":"a\tbéA\n","d":"x y\nz"}`},
	{"blocks", "a: |\n  x\n   y\n\nb: >\n  x\n  y\n\n  z\nc: |-\n  x\nd: |+\n  x\n\ne: |2\n   x\n", `{"a":"x\n y\n","b":"x y\nz\n","c":"x","d":"x\n\n","e":" x\n"}`},
	{"flow", `{a: [1, {b: c}], 'd': "e", f: g h}`, `{"a":[1,{"b":"c"}],"d":"e","f":"g h"}`},
	{"comments", "# one\na: b # two\n# three\nc: d#e\n", `{"a":"b","c":"d#e"}`},
	{"complex key", "? a\n: b\n? |\n  c\n: d\n", `{"a":"b","c\n":"d"}`},
	{"directives", "%YAML 1.1\n---\na: 1\n", `{"a":1}`},
	{"line ends", "a: 1\r\nb: |\r\n  x\r\n  y\r\nc: 'x\r\n  y'\r\n", `{"a":1,"b":"x\ny\n","c":"x y"}`},
	{"byte order mark", "\ufeffa: 1\n", `{"a":1}`},
	{"JSON in YAML", "# c\n{\"a\": \"\\u00e9\", \"b\": [1.0, 1e3, -0]}\n", `{"a":"é","b":[1,1000,0]}`},
}

func TestRules(t *testing.T) {
	for _, c := range rules {
		docs, err := Parse("", []byte(c.text))
		if err != nil || len(docs) != 1 {
			t.Errorf("%s: %q: got %d documents, error %v", c.rule, c.text, len(docs), err)
			continue
		}
		want, err := value.Parse([]byte(c.want))
		if err != nil {
			t.Fatal(err)
		}
		if got := docs[0].Value; !got.Equal(want) || got.String() != want.String() {
			t.Errorf("%s: %q:\ngot  %s\nwant %s", c.rule, c.text, got, want)
		}
	}
}

// differences has texts that Kubernetes accepts and Parse refuses, with the rule that says why.
var differences = []struct{ rule, text, kubernetes, want string }{
	{"8 duplicate", "a: 1\na: 2\n", `{"a":2}`, `f:2:1: key "a" is already set in line 1`},
	{"8 duplicate inside", "a:\n- b: 1\n  b: 1\n", `{"a":[{"b":1}]}`, `f:3:3: key "b" is already set in line 2`},
	{"8 duplicate of a number", "1: a\n'1': b\n", `{"1":"a"} or {"1":"b"}`, `f:2:1: key "1" is already set in line 1`},
	{"8 duplicate of a boolean", "y: a\nyes: b\n", `{"true":"b"}`, `f:2:1: key "true" is already set in line 1`},
	{"8 duplicate in flow", "{a: 1, a: 2}", `{"a":2}`, `f:1:8: key "a" is already set in line 1`},
	{"8 duplicate in JSON", `{"a": 1, "a": 2}`, `{"a":2}`, `f:1:10: duplicate name "a"`},
	{"9 merge behind", "a: 1\n<<: {a: 2}\n", `{"a":2}`, `f:2:1: << would replace key "a" of line 1; put it in front of that line`},
	{"10 later documents", "a: 1\n---\nb: [\n", `{"a":1}`, "f:3:4: a value is missing"},
	{"10 text behind", "{a: 1} b\n", `{"a":1}`, "f:1:8: unexpected text after the end of the document"},
	{"11 binary", "a: !!binary /w==\n", `{"a":"\ufffd"}`, "f:1:4: !!binary that is not UTF-8 text has no place in JSON"},
}

func TestDifferences(t *testing.T) {
	for _, c := range differences {
		_, err := Parse("f", []byte(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %q (Kubernetes: %s):\ngot  %v\nwant %s", c.rule, c.text, c.kubernetes, err, c.want)
		}
	}
}

func TestNumberKinds(t *testing.T) {
	docs, err := Parse("", []byte("# YAML\n[1, 1.0, 1e3, -0.0, 9223372036854775808, 1.5, 1e400]"))
	if err != nil {
		t.Fatal(err)
	}
	want := []value.Kind{value.KindInt, value.KindInt, value.KindInt, value.KindInt, value.KindFloat, value.KindFloat, value.KindString}
	for i, kind := range want {
		if got := docs[0].Value.Item(i); got.Kind() != kind {
			t.Errorf("item %d, %s: got a %s, want a %s", i, got, got.Kind(), kind)
		}
	}
}
