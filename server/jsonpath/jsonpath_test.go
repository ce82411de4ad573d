package jsonpath

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	library "k8s.io/client-go/util/jsonpath"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

// maker makes random documents and paths.
type maker struct{ *rand.Rand }

func (m maker) one(of ...string) string { return of[m.IntN(len(of))] }

func (m maker) text(depth int) string {
	switch n := m.IntN(8); {
	case n < 2 || depth == 0:
		return m.one("1", "2", `"x"`, `"yz"`, "true", "1.5", "null", `""`)
	case n < 5:
		items := make([]string, m.IntN(4))
		for i := range items {
			items[i] = m.text(depth - 1)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	var members []string
	for _, name := range []string{"a", "b", "c"} {
		if m.IntN(2) == 0 {
			members = append(members, strconv.Quote(name)+":"+m.text(depth-1))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (m maker) path(steps int) string {
	var b strings.Builder
	for range 1 + m.IntN(steps) {
		switch m.IntN(9) {
		case 0, 1, 2:
			b.WriteString(m.one(".a", ".b", ".c", "['a']"))
		case 3:
			b.WriteString(m.one("[*]", ".*", "[0]", "[-1]", "[1:]", "[0:2]", "[:-1]", "[::2]", "[1]", "[0:0]"))
		case 4:
			b.WriteString("." + m.one(".a", ".b", "*"))
		case 5, 6:
			side := m.one("@.a", "@.b", "@", "@[0]", "@.a.b", "@..a")
			b.WriteString("[?(" + side + m.one("==", "!=", "<", "<=", ">", ">=") + m.one("1", "2", `"x"`, "true", "1.5", "@.b", "@.a") + ")]")
		case 7:
			b.WriteString("[?(" + m.one("@.a", "@.b", "@[0]", "@[5]") + ")]")
		case 8:
			b.WriteString(m.one("['a','b']", "[0,1]"))
		}
	}
	return b.String()
}

// TestLikeLibrary evaluates random paths in random documents, and compares the values with the library's in any order.
func TestLikeLibrary(t *testing.T) {
	const cases = 20_000
	m := maker{seeds.Rand(t)}
	found, none, wrong := 0, 0, 0
	for range cases {
		document, err := value.Parse([]byte(`{"a":` + m.text(4) + `,"b":` + m.text(3) + "}"))
		if err != nil {
			t.Fatal(err)
		}
		path := m.path(4)
		j := library.New("column").AllowMissingKeys(true)
		if j.Parse("{"+path+"}") != nil {
			continue
		}
		p, err := Compile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := (&search{left: MaxSteps}).all(document, p)
		if !matches(t, j, document, got, err) {
			t.Fatalf("%s in %v is %v, %v", path, document, got, err)
		}
		switch {
		case err != nil:
			wrong++
		case len(got) > 0:
			found++
		default:
			none++
		}
	}
	t.Logf("%d found, %d not, %d wrong", found, none, wrong)
	if found < cases/20 || none < cases/20 || wrong < cases/20 {
		t.Error("the cases are one-sided")
	}
}

// matches reports whether the library finds the same values or error. The library's error may depend on map order, so it is called several
// times.
func matches(t *testing.T, j *library.JSONPath, document value.Value, got []value.Value, err error) bool {
	t.Helper()
	var is []string
	for _, v := range got {
		is = append(is, v.String())
	}
	slices.Sort(is)
	for range 10_000 { // one may be rare
		results, failed := j.FindResults(document.ToAny())
		if err != nil || failed != nil {
			if (err != nil) == (failed != nil) {
				return true
			}
			continue
		}
		var want []string
		for _, r := range results[0] {
			v, err := value.FromAny(r.Interface())
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, v.String())
		}
		slices.Sort(want)
		if slices.Equal(is, want) {
			return true
		}
	}
	return false
}

// TestFirst checks that members are visited by name.
func TestFirst(t *testing.T) {
	document, err := value.Parse([]byte(`{"c":{"x":3},"a":{"x":1},"b":{"x":2}}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{".*.x": "1", "..x": "1", ".c.x": "3", ".d": "absent"} {
		p, err := Compile(path)
		if err != nil {
			t.Fatal(err)
		}
		left := MaxSteps
		if got, err := p.First(document, &left); err != nil || got.String() != want {
			t.Errorf("%s is %v, %v; want %s", path, got, err, want)
		}
	}
}

// TestGivenUp ends searches that would run too long.
func TestGivenUp(t *testing.T) {
	deep, err := value.Parse([]byte(strings.Repeat(`{"a":`, 80) + "1" + strings.Repeat("}", 80)))
	if err != nil {
		t.Fatal(err)
	}
	wide, err := value.Parse([]byte("[" + strings.TrimSuffix(strings.Repeat(`{"a":"x"},`, 1000), ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		of   value.Value
		ends bool
	}{
		{"..a", deep, false}, {strings.Repeat("..a", 20), deep, true},
		{"[*].a", wide, false}, {"[*]" + strings.Repeat("[?(@.a)]", 3), wide, false},
		{"[" + strings.TrimSuffix(strings.Repeat("0:1000,", 200), ",") + "]", wide, true},
	} {
		p, err := Compile(c.path)
		if err != nil {
			t.Fatal(err)
		}
		left := MaxSteps
		if _, err := p.First(c.of, &left); errors.Is(err, ErrGivenUp) != c.ends {
			t.Errorf("%.40s: %v", c.path, fmt.Sprint(err))
		}
	}
}
