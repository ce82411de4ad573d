package form

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/testing/pathtest"
	"github.com/deed-project/deed/value"
)

const shapes = `a/v1.Shape
	name string
	size? int32
	area? *int64
	open? bool
	tags? []string
	notes []string
	labels? {}string
	inner? a/v1.Inner
	ref? *a/v1.Inner
	items? []a/v1.Inner
	when time
	since?! time
	cost? quantity
	port? intorstring
	blob? bytes
	any? *raw
	mode? @v1.Mode:string
	limits? @v1.Limits:{v1.Name}quantity
a/v1.Inner
	value? string
	count int64
`

func shape(t *testing.T, rules string) *Type {
	t.Helper()
	types := Parse(shapes)
	if err := types.SetRules(rules, Functions{}); err != nil {
		t.Fatal(err)
	}
	s, ok := types.Struct("a/v1.Shape")
	if !ok {
		t.Fatal("no a/v1.Shape")
	}
	return s
}

func parse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestNormalize(t *testing.T) {
	s := shape(t, "")
	for _, test := range []struct{ reads, prints string }{
		{`{}`, `{"cost":"0","inner":{"count":0},"name":"","notes":null,"port":0,"when":null}`},
		{`{"size":0,"open":false,"tags":[],"labels":{},"area":null,"ref":null}`,
			`{"cost":"0","inner":{"count":0},"name":"","notes":null,"port":0,"when":null}`},
		{`{"area":0,"ref":{},"items":[null]}`,
			`{"area":0,"cost":"0","inner":{"count":0},"items":[{"count":0}],"name":"","notes":null,"port":0,"ref":{"count":0},"when":null}`},
		{`{"unknown":1,"name":"x","notes":[]}`, `{"cost":"0","inner":{"count":0},"name":"x","notes":[],"port":0,"when":null}`},
		{`{"when":"2026-01-01T02:00:00.5+02:00","cost":"1024Mi","port":"http","blob":"aGk=","limits":{"cpu":1}}`,
			`{"blob":"aGk=","cost":"1Gi","inner":{"count":0},"limits":{"cpu":"1"},"name":"","notes":null,"port":"http","when":"2026-01-01T00:00:00Z"}`},
	} {
		got, err := s.Normalize(parse(t, test.reads), 0)
		if err != nil {
			t.Errorf("%s: %v", test.reads, err)
			continue
		}
		if got.String() != test.prints {
			t.Errorf("%s prints %v, want %s", test.reads, got, test.prints)
		}
		again, err := s.Normalize(got, 0)
		if err != nil || !again.Same(got) {
			t.Errorf("%v is not shared when it is read again: %v, %v", got, again, err)
		}
	}
}

func TestStored(t *testing.T) {
	got, err := shape(t, "").Normalize(parse(t, `{"notes":[]}`), Stored)
	if err != nil || !got.Get("notes").IsNull() {
		t.Errorf("an empty list is stored as %v, %v", got.Get("notes"), err)
	}
}

// What a type cannot hold is refused with the words of the reference: those of reading JSON, and those of
// converting maps.
func TestErrors(t *testing.T) {
	s := shape(t, "")
	for _, test := range []struct{ reads, path, decoding, converting string }{
		{`{"size":1.5}`, ".size", "json: cannot unmarshal number 1.5 into Go struct field Shape.size of type int32",
			"cannot convert float64 to int32"},
		{`{"size":"x"}`, ".size", "json: cannot unmarshal string into Go struct field Shape.size of type int32",
			"unrecognized type: int32"},
		{`{"mode":7}`, ".mode", "json: cannot unmarshal number into Go struct field Shape.mode of type v1.Mode",
			"cannot convert int64 to v1.Mode"},
		{`{"items":[{},{"value":[]}]}`, ".items[1].value",
			"json: cannot unmarshal array into Go struct field Inner.items.value of type string", "unrecognized type: string"},
		{`{"items":{}}`, ".items", "json: cannot unmarshal object into Go struct field Shape.items of type []v1.Inner",
			"cannot restore slice from map"},
		{`{"labels":{"a":1}}`, ".labels.a", "json: cannot unmarshal number into Go struct field Shape.labels of type string",
			"cannot convert int64 to string"},
		{`{"limits":7}`, ".limits", "json: cannot unmarshal number into Go struct field Shape.limits of type v1.Limits",
			"cannot restore map from int64"},
		{`{"ref":"x"}`, ".ref", "json: cannot unmarshal string into Go struct field Shape.ref of type v1.Inner",
			"cannot restore struct from: string"},
		{`{"when":"x"}`, ".when", `parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`,
			`parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`},
		{`{"when":7}`, ".when", "json: cannot unmarshal number into Go struct field Shape.when of type string",
			"json: cannot unmarshal number into Go value of type string"},
		{`{"cost":"1x"}`, ".cost", ErrQuantityFormat.Error(), ErrQuantityFormat.Error()},
		{`{"cost":"x","name":1}`, ".name", "json: cannot unmarshal number into Go struct field Shape.name of type string",
			"cannot convert int64 to string"},
	} {
		_, err := s.Normalize(parse(t, test.reads), 0)
		var refused *Error
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v", test.reads, err)
			continue
		}
		if got := refused.Path.String(); got != test.path {
			t.Errorf("%s: at %s, want %s", test.reads, got, test.path)
		}
		if refused.Error() != test.decoding || refused.Converting() != test.converting {
			t.Errorf("%s:\n%s\n%s\nwant\n%s\n%s", test.reads, refused, refused.Converting(), test.decoding, test.converting)
		}
	}
}

func TestRules(t *testing.T) {
	s := shape(t, `
a/v1.Shape
	name = "n" if size is set
	mode = "A" if ref.value is x|y and area is unset
	items[].value = "v"
	labels = $limits
	ref.count = 3 if ref is set
	tags := ["t"]
`)
	for _, test := range []struct{ reads, at, want string }{
		{`{"size":1}`, "name", `"n"`},
		{`{"size":0}`, "name", `""`},
		{`{"size":1,"name":"x"}`, "name", `"x"`},
		{`{"ref":{"value":"y"}}`, "mode", `"A"`},
		{`{"ref":{"value":"y"},"area":0}`, "mode", "absent"},
		{`{"ref":{"value":"z"}}`, "mode", "absent"},
		{`{"items":[{},{"value":"w"}]}`, "items", `[{"count":0,"value":"v"},{"count":0,"value":"w"}]`},
		{`{"ref":{}}`, "ref", `{"count":3}`},
		{`{"ref":{"count":4}}`, "ref", `{"count":4}`},
		{`{}`, "ref", "absent"},
		{`{}`, "tags", `["t"]`},
		{`{"tags":[]}`, "tags", "absent"},
		{`{"tags":null}`, "tags", `["t"]`},
	} {
		got, err := s.Normalize(parse(t, test.reads), Defaults)
		if err != nil {
			t.Errorf("%s: %v", test.reads, err)
			continue
		}
		if member := got.Get(test.at); member.String() != test.want {
			t.Errorf("%s: %s is %v, want %s", test.reads, test.at, member, test.want)
		}
	}
}

func TestRulesThatCannotBeRead(t *testing.T) {
	for _, test := range []struct{ text, reason string }{
		{"a/v1.Shape\n\tname", `line 2: "name" is no rule`},
		{"a/v1.None\n\tname = 1", "line 2: no struct type is called a/v1.None"},
		{"a/v1.Shape\n\t@none", "line 2: no function is called none"},
		{"a/v1.Shape\n\tname = 1 if x", `line 2: "x" is no condition`},
		{"a/v1.Shape\n\tname = [", "line 2: "},
	} {
		err := Parse(shapes).SetRules(test.text, Functions{})
		if err == nil || !strings.HasPrefix(err.Error(), test.reason) {
			t.Errorf("%q: %v, want %s", test.text, err, test.reason)
		}
	}
}

// TestSumsOfQuantities adds and compares quantities.
func TestSumsOfQuantities(t *testing.T) {
	for _, test := range []struct {
		a, b, sum string
		compared  int
	}{
		{"1", "500m", "1500m", 1},
		{"500m", "500m", "1", 0},
		{"1Gi", "1Gi", "2Gi", 0},
		{"1Gi", "1G", "2073741824", 1},
		{"1G", "1Gi", "2073741824", -1},
		{"0", "2Gi", "2Gi", -1},
		{"512Mi", "512Mi", "1Gi", 0},
		{"1", "", "1", 1},
		{"1e-999999999", "1", "1", -1}, // no quantity
	} {
		if got := AddQuantities(test.a, test.b); got != test.sum {
			t.Errorf("%s + %s = %s, want %s", test.a, test.b, got, test.sum)
		}
		if got := CompareQuantities(test.a, test.b); got != test.compared {
			t.Errorf("%s against %s is %d, want %d", test.a, test.b, got, test.compared)
		}
	}
	for _, large := range []string{"1e999999999", "1e-999999999", "1E1025"} {
		if _, err := Quantity(large); err != ErrQuantityPower {
			t.Errorf("%s: %v, want %v", large, err, ErrQuantityPower)
		}
	}
}

func TestQuantity(t *testing.T) {
	for _, test := range []struct{ reads, prints string }{
		{"0", "0"}, {"1", "1"}, {"1000m", "1"}, {"0.1", "100m"}, {"1024Mi", "1Gi"}, {"1.5Gi", "1536Mi"}, {"1Ki", "1Ki"}, {"1e3", "1e3"},
		{"1000e3", "1e6"}, {"12E", "12E"}, {"1500u", "1500u"}, {"0.1n", "1n"}, {"-0.1n", "-1n"}, {"+5", "+5"}, {"05", "05"}, {"1000", "1k"},
		{"0.5Ki", "512"}, {"0.1Ki", "102400m"}, {"100Ei", "9223372036854775807"}, {"0Gi", "0"}, {"-1024Ki", "-1Mi"}, {"1.", "1."},
	} {
		if got, err := Quantity(test.reads); err != nil || got != test.prints {
			t.Errorf("%s prints %s, %v; want %s", test.reads, got, err, test.prints)
		}
	}
	for text, want := range map[string]error{
		"": ErrQuantityFormat, "x": ErrQuantityFormat, "1x": ErrQuantityFormat, "1KI": ErrQuantityFormat, "1ki": ErrQuantitySuffix, "1 ": ErrQuantityFormat,
	} {
		if _, err := Quantity(text); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	for reads, want := range map[string]string{"1500u": "2m", "1": "1", "0.0001": "1m", "-1500u": "-2m", "x": "x"} {
		if got := RoundQuantity(reads); got != want {
			t.Errorf("%s is rounded to %s, want %s", reads, got, want)
		}
	}
}

// TestSame compares values that differ in the spelling of a quantity, and in more.
func TestSame(t *testing.T) {
	typ := shape(t, "")
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{`{"cost":"1Ki"}`, `{"cost":"1024"}`, true},
		{`{"cost":"1Ki"}`, `{"cost":"1025"}`, false},
		{`{"cost":"1Ki"}`, `{}`, false},
		{`{"cost":"1Ki"}`, `{"port":1}`, false},
		{`{"limits":{"a":"1e3","b":"1"}}`, `{"limits":{"a":"1k","b":"1000m"}}`, true},
		{`{"limits":{"a":"1"}}`, `{"limits":{"b":"1"}}`, false},
		{`{"notes":["1Ki"]}`, `{"notes":["1024"]}`, false},
		{`{"notes":["a"],"cost":"1"}`, `{"notes":["a","b"],"cost":"1"}`, false},
		{`{"items":[{"count":1},{"count":2}]}`, `{"items":[{"count":1},{"count":2}]}`, true},
		{`{"items":[{"count":1}]}`, `{"items":[{"count":2}]}`, false},
		{`{"ref":{"count":1},"cost":"1k"}`, `{"ref":{"count":1},"cost":"1e3"}`, true},
		{`{"unknown":"1k"}`, `{"unknown":"1e3"}`, false},
	} {
		if got := typ.Same(parse(t, test.a), parse(t, test.b)); got != test.same {
			t.Errorf("%s and %s: %v", test.a, test.b, got)
		}
	}
}

// TestCanonicalQuantities reads what is taken for canonical at a glance: it prints as it was.
func TestCanonicalQuantities(t *testing.T) {
	taken := 0
	for _, suffix := range append([]string{"mi", "i", "KiB"}, append(decimalSuffixes, binarySuffixes...)...) {
		for n := range 2100 {
			text := strconv.Itoa(n) + suffix
			if !isCanonical(text) {
				continue
			}
			taken++
			q, err := parseQuantity(text)
			if err != nil || q.String() != text {
				t.Errorf("%s is not canonical: %v", text, err)
			}
		}
	}
	if taken < 20000 {
		t.Errorf("only %d texts are taken for canonical", taken)
	}
}

func TestAppendJSON(t *testing.T) {
	s := shape(t, "")
	v := parse(t, `{"items":[{"count":1,"value":"x"}],"name":"n","size":2}`)
	if got, want := string(s.AppendJSON(nil, v)), `{"name":"n","size":2,"items":[{"value":"x","count":1}]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A member that was normalized before is not looked at again, and one that was not is.
func TestNormalizeLike(t *testing.T) {
	s := shape(t, "")
	known, err := s.Normalize(parse(t, `{"items":[{"value":"x"}],"name":"n"}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	wrong := known.With("name", value.Int(1)) // which no type string holds
	if _, err := s.NormalizeLike(wrong, wrong, 0, time.Now); err != nil {
		t.Errorf("a known member was looked at: %v", err)
	}
	if _, err := s.NormalizeLike(wrong, known, 0, time.Now); err == nil {
		t.Error("an unknown member was not looked at")
	}
}

func TestUnlike(t *testing.T) {
	s := shape(t, "")
	for text, want := range map[string]bool{
		`{"name":"n","items":[{"value":"x"}]}`: false, `{"items":[]}`: true, `{"labels":{}}`: true, `{"labels":null}`: false, `{"ref":{}}`: false,
		`{"cost":"1000m"}`: true, `{"cost":"1"}`: false, `{"limits":{"cpu":"0.1"}}`: true,
	} {
		if got := s.Unlike(parse(t, text), value.Value{}); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
	// What has a default in storage is like what is sent.
	for text, want := range map[string]bool{
		`{"labels":{"a":"b"},"items":[{"value":"x"}]}`: false, `{"labels":{"a":"b"}}`: true, `{"items":[]}`: true,
	} {
		if got := s.Unlike(parse(t, `{"labels":{},"items":[]}`), parse(t, text)); got != want {
			t.Errorf("in place of %s: %t, want %t", text, got, want)
		}
	}
}

// What stays as it is takes no memory but for the walk's own, however large it is; what changes takes memory in proportion to it.
func TestNormalizeGrowth(t *testing.T) {
	s := shape(t, "")
	items := func(n int) value.Value {
		list := make([]value.Value, n)
		for i := range list {
			list[i] = value.Object(value.Member{Name: "value", Value: value.String("x")})
		}
		return value.Object(value.Member{Name: "items", Value: value.List(list...)})
	}
	allocations := func(v value.Value) float64 {
		return testing.AllocsPerRun(20, func() {
			if _, err := s.Normalize(v, Held); err != nil {
				t.Fatal(err)
			}
		})
	}
	settled, err := s.Normalize(items(1000), Held)
	if err != nil {
		t.Fatal(err)
	}
	if n := allocations(settled); n > 10 {
		t.Errorf("%v allocations for 1000 items that stay as they are", n)
	}
	small, large := allocations(items(500)), allocations(items(1000))
	if small == 0 || large/small > 2.2 {
		t.Errorf("%v allocations for 500 items, %v for 1000", small, large)
	}
}

// TestNoType asks the nil Type, which holds any JSON, and types of no description.
func TestNoType(t *testing.T) {
	var none *Type
	v, err := value.Parse([]byte(`{"a":[null,{"b":""}],"c":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range []*Type{none, none.Item(), none.Member("a"), none.ListOf().Item()} {
		if got, err := typ.Normalize(v, Held); err != nil || !got.Equal(v) || string(typ.AppendJSON(nil, v)) != v.String() {
			t.Errorf("%v is held as %v (%v)", v, got, err)
		}
		if typ.Unlike(v, v) || typ.Findings(v) != nil {
			t.Errorf("%v is not as it is stored, or has findings %v", v, typ.Findings(v))
		}
	}
	for _, ts := range []*Types{nil, {}} {
		if typ, ok := ts.Struct("core/v1.Pod"); ok || ts.Rules("core/v1.Pod") != 0 || ts.SetRules("a\n\t@f\n", Functions{}) == nil {
			t.Errorf("no types have %v", typ)
		}
	}
	for _, text := range []string{"", "core/v1.Thing", "core/v1.Thing\n\tname string", "core/v1.Thing\n\tname string\n"} {
		typ, ok := Parse(text).Struct("core/v1.Thing")
		if ok != (text != "") || strings.Contains(text, "name") != (typ.Member("name") != nil && ok) {
			t.Errorf("%q describes %v", text, typ)
		}
	}
}

// TestFindingsGivePathsAway finds texts that are required and empty on each level of a deep object.
func TestFindingsGivePathsAway(t *testing.T) {
	typ, _ := Parse("a/v1.Deep\n\tdown? *a/v1.Deep\n\tone+ string\n\ttwo+ string\n").Struct("a/v1.Deep")
	text := `{"one":"","two":""}`
	for range 8 {
		text = `{"down":` + text + `,"one":"","two":""}`
	}
	v := parse(t, text)
	pathtest.Belong(t, 8, func() any { return typ.Findings(v) })
}

// TestZeroTimes reads the zero time into a pointer. It prints as null, which stays if it is read again or stored; a null that a client sends
// is nothing.
func TestZeroTimes(t *testing.T) {
	types := Parse("a/v1.Meta\n\tdeleted? *time\n\tcreated?! time\n")
	s, _ := types.Struct("a/v1.Meta")
	for _, test := range []struct {
		mode          Mode
		reads, prints string
	}{
		{Held, `{"created":"0001-01-01T00:00:00Z","deleted":"0001-01-01T00:00:00Z"}`, `{"deleted":null}`},
		{Held, `{"deleted":"0001-01-01T01:00:00+01:00"}`, `{"deleted":null}`},
		{Held, `{"deleted":null}`, `{}`},
		{Held | Again, `{"created":null,"deleted":null}`, `{"deleted":null}`},
		{Stored, `{"deleted":null}`, `{"deleted":null}`},
		{Stored | Converted, `{"deleted":null}`, `{}`},
	} {
		if got, err := s.Normalize(parse(t, test.reads), test.mode); err != nil || got.String() != test.prints {
			t.Errorf("%b: %s prints %v, %v, want %s", test.mode, test.reads, got, err, test.prints)
		}
	}
}

// TestWithFractions holds a time as it was sent, with its fraction, if it prints as the time that is there.
func TestWithFractions(t *testing.T) {
	s := shape(t, "")
	for _, test := range []struct{ printed, sent, held string }{
		{`{"when":"2026-01-01T00:00:00Z"}`, `{"when":"2026-01-01T02:00:00.5+02:00"}`, `{"when":"2026-01-01T00:00:00.5Z"}`},
		{`{"when":"2026-01-01T00:00:00Z"}`, `{"when":"2026-01-01T00:00:01.5Z"}`, `{"when":"2026-01-01T00:00:00Z"}`},
		{`{}`, `{"when":"2026-01-01T00:00:01.5Z"}`, `{}`},
	} {
		if got := s.WithEmpties(parse(t, test.printed), parse(t, test.sent)); got.String() != test.held {
			t.Errorf("%s sent as %s is held as %v, want %s", test.printed, test.sent, got, test.held)
		}
	}
}

// TestFits asks of values whether they surely fit.
func TestFits(t *testing.T) {
	s := shape(t, "")
	for _, test := range []struct {
		sent string
		want bool
	}{
		{`{}`, true},
		{`{"name":"x","size":1,"area":null,"open":false,"tags":[],"labels":{"a":""},"inner":{"count":0},"items":[null,{}],"notes":null}`, true},
		{`{"when":"2026-01-01T02:00:00+02:00","cost":"5m","port":80,"blob":"aGk=","any":{"a":[1]}}`, true},
		{`{"port":"http","when":null}`, true},
		{`{"unknown":1}`, false},
		{`{"inner":{"Count":0}}`, false},
		{`{"name":{}}`, false},
		{`{"name":1}`, false},
		{`{"size":4294967296}`, false},
		{`{"size":1.5}`, false},
		{`{"tags":[1]}`, false},
		{`{"labels":[]}`, false},
		{`{"when":"now"}`, false},
		{`{"cost":"5x"}`, false},
		{`{"port":true}`, false},
		{`{"blob":"?"}`, false},
	} {
		if got := s.Fits(parse(t, test.sent)); got != test.want {
			t.Errorf("%s fits: %v", test.sent, got)
		}
	}
}
