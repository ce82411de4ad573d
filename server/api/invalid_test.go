package api_test

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/api"
)

// TestInvalid compares with the library.
func TestInvalid(t *testing.T) {
	at := field.NewPath("spec", "items")
	one, two := field.Invalid(at.Index(0), "x", "is wrong"), field.Required(at.Key("k"), "")
	for _, errs := range []field.ErrorList{
		nil, {one}, {one, two}, {one, one}, {one, two, one}, {field.TooMany(at, 3, 2), field.Duplicate(at, map[string]any{"a": 1}), two},
	} {
		for _, kind := range []schema.GroupKind{{}, {Kind: "Pod"}, {Group: "example.org", Kind: "Thing"}} {
			if got, want := api.Invalid(kind, "a \"b\"", errs), errors.NewInvalid(kind, "a \"b\"", errs); !reflect.DeepEqual(got, want) {
				t.Errorf("%v: %+v, want %+v", errs, got, want)
			}
		}
	}
}

// TestManyErrors checks that ten times as many errors allocate about ten times as much.
func TestManyErrors(t *testing.T) {
	bytes := func(n int) uint64 {
		var errs field.ErrorList
		for i := range n {
			errs = append(errs, field.Invalid(field.NewPath("spec").Index(i), fmt.Sprint(i), "is wrong"))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		api.InvalidOnce(schema.GroupKind{Kind: "Pod"}, "p", errs)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := bytes(500), bytes(5000); many > 15*few {
		t.Errorf("500 errors allocate %d bytes, and 5000 %d", few, many)
	}
}

// TestOnce refuses an object for equal errors.
func TestOnce(t *testing.T) {
	one, two := field.Required(field.NewPath("a"), ""), field.Required(field.NewPath("b"), "")
	got := api.InvalidOnce(schema.GroupKind{Kind: "Pod"}, "p", field.ErrorList{one, two, one})
	want := errors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", field.ErrorList{one, two})
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestBounds refuses objects for many errors, long errors, and errors that stand for others. The refusal lists errors in order and counts
// the rest.
func TestBounds(t *testing.T) {
	path, long := field.NewPath("spec"), strings.Repeat("x", 2*api.MaxText)
	var many field.ErrorList
	for i := range 100_000 {
		many = append(many, field.Invalid(path.Index(i), "a text", "is wrong"))
	}
	for _, c := range []struct {
		name        string
		errs        field.ErrorList
		begin, end  string
		least, most int // bounds on the number of causes
	}{
		{"many", many, `Pod "p" is invalid: [spec[0]: Invalid value: "a text": is wrong, spec[1]: `, " more]", 1000, 50_000},
		{"a long value", field.ErrorList{field.Invalid(path, long, "is wrong")}, `Pod "p" is invalid: spec: Invalid value: "xxx`,
			`more bytes": is wrong`, 1, 1},
		{"a long list", field.ErrorList{field.Invalid(path, []string{long}, "is wrong")}, `Pod "p" is invalid: spec: Invalid value: ["xxx`,
			"more bytes", 1, 1},
		{"others", field.ErrorList{field.Required(path, ""), api.More(3), api.More(4)},
			`Pod "p" is invalid: [spec: Required value, and 7 more]`, "and 7 more]", 2, 2},
	} {
		status := api.StatusOf(api.Invalid(schema.GroupKind{Kind: "Pod"}, "p", c.errs))
		n := len(status.Details.Causes)
		if !strings.HasPrefix(status.Message, c.begin) || !strings.HasSuffix(status.Message, c.end) || n < c.least || n > c.most {
			t.Errorf("%s: %d causes, %.100s … %s", c.name, n, status.Message, status.Message[max(0, len(status.Message)-100):])
		}
		if len(status.Message) > 2<<20 {
			t.Errorf("%s: a message of %d bytes", c.name, len(status.Message))
		}
	}
	status := api.StatusOf(api.Invalid(schema.GroupKind{Kind: "Pod"}, long, nil))
	if len(status.Message) > 2*api.MaxName || len(status.Details.Name) > 2*api.MaxName {
		t.Errorf("a long name: a message of %d bytes", len(status.Message))
	}
}

// TestClip cuts texts between characters, and joins texts within a bound.
func TestClip(t *testing.T) {
	for _, c := range []struct {
		text, want string
		most       int
	}{
		{"abc", "abc", 3}, {"abc", "a… and 2 more bytes", 1}, {"aé", "a… and 2 more bytes", 2}, {"é", "… and 2 more bytes", 1}, {"", "", 0},
	} {
		if got := api.Clip(c.text, c.most); got != c.want {
			t.Errorf("of %q %d bytes are %q, want %q", c.text, c.most, got, c.want)
		}
	}
	if got := api.Join([]string{"a", "b", "c"}, ", "); got != "a, b, c" {
		t.Errorf("three texts are %q", got)
	}
	long := strings.Repeat("x", api.MaxText)
	if got, want := api.Join([]string{long, long, long, "y", "z"}, "; "), long+"; "+long+"; and 3 more"; got != want {
		t.Errorf("of five texts, three of them long, %d bytes are left, which end in %q", len(got), got[len(got)-20:])
	}
}
