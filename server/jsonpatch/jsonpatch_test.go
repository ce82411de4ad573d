package jsonpatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

// number returns a number from the environment.
func number(t *testing.T, name string, standard int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// maker makes random documents and patches.
type maker struct{ *rand.Rand }

func (m maker) one(of ...string) string { return of[m.IntN(len(of))] }

// text returns a JSON text. A text for operations may have another spelling than the canonical one.
func (m maker) text(depth int, written bool) string {
	spelled := []string{"1", "2", `"a"`, `"b"`, "true", "1.5", `"\u003c"`, "{}", "[]"}
	if written {
		spelled = append(spelled, "1.0", `"\u0061"`, `"<"`, `"é"`, ` [ ] `)
	}
	switch n := m.IntN(10); {
	case n < 4 || depth == 0:
		return m.one(spelled...)
	case n < 5:
		return "null"
	case n < 7:
		items := make([]string, m.IntN(4))
		for i := range items {
			items[i] = m.text(depth-1, written)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	var members []string
	for _, name := range []string{"a", "b", "c", "d~/e"} {
		if m.IntN(2) == 0 {
			members = append(members, strconv.Quote(name)+":"+m.text(depth-1, written))
		}
		if written && m.IntN(30) == 0 {
			members = append(members, strconv.Quote(name)+":"+m.text(depth-1, written))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// pathIn returns the path of a part of v, or of an absent sibling.
func (m maker) pathIn(v value.Value) string {
	path := ""
	for v.Len() > 0 && (path == "" || m.IntN(3) > 0) {
		i := m.IntN(v.Len())
		if v.Kind() == value.KindList {
			v, path = v.Item(i), path+"/"+strconv.Itoa(i-m.IntN(2)*v.Len())
			continue
		}
		if v.Kind() != value.KindObject {
			break
		}
		name := v.Member(i).Name
		v, path = v.Get(name), path+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	if path == "" || m.IntN(4) == 0 {
		path += "/" + m.one("a", "x", "0", "-", "1")
	}
	return path
}

// path returns any path.
func (m maker) path(of value.Value) string {
	if m.IntN(4) > 0 {
		return m.pathIn(of)
	}
	if m.IntN(30) == 0 {
		return m.one("", "a", "a/b", "/", "//")
	}
	var b strings.Builder
	for range 1 + m.IntN(3) {
		b.WriteString("/" + m.one("a", "b", "c", "a", "b", "0", "1", "2", "-1", "-", "d~0~1e", "-3", "+1"))
	}
	return b.String()
}

func (m maker) operation(of value.Value) string {
	op := m.one("add", "add", "remove", "replace", "move", "copy", "test", "test")
	if m.IntN(100) == 0 {
		op = "other"
	}
	members := []string{`"op":` + strconv.Quote(op)}
	if m.IntN(50) > 0 {
		members = append(members, `"path":`+strconv.Quote(m.path(of)))
	} else if m.IntN(2) == 0 {
		members = append(members, `"path":1`)
	}
	if op == "move" || op == "copy" {
		members = append(members, `"from":`+strconv.Quote(m.path(of)))
	} else if op == "test" && m.IntN(2) == 0 {
		path := m.pathIn(of)
		members = append(members, `"path":`+strconv.Quote(path), `"value":`+at(of, path).String())
	} else if m.IntN(50) > 0 {
		members = append(members, `"value":`+m.text(2, true))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// at returns the value at a path, or null.
func at(v value.Value, path string) value.Value {
	d := &draft{root: whole(v)}
	if d.open(d.root) != nil {
		return value.Null()
	}
	if in, key := d.find(path); in != nil {
		if part, err := in.get(key); err == nil && part != nil {
			return part.whole
		}
	}
	return value.Null()
}

// byLibrary returns the library's outcome for a document, or its error text. It returns false if the library panics.
func byLibrary(patch Patch, document string) (outcome, text string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	after, err := patch.Apply([]byte(document))
	if err != nil {
		return err.Error(), err.Error(), true
	}
	v, err := parseLast(after, nil)
	return fmt.Sprint(v, err), string(after), true
}

// textOf returns the result of Text with the library's escapes, or the error text.
func textOf(ctx context.Context, patch Patch, document value.Value) string {
	text, err := Text(ctx, patch, document)
	if err != nil {
		return err.Error()
	}
	escaped, err := json.Marshal(json.RawMessage(text))
	if err != nil {
		return err.Error()
	}
	return string(escaped)
}

// remembersSpelling reports whether a later operation reads a text in another spelling that an earlier one wrote, or copies a null. See the
// package comment.
func remembersSpelling(patch Patch) bool {
	spelled, null := false, false
	for _, op := range patch {
		text, has := op["value"]
		switch op.Kind() {
		case "test":
			if spelled {
				return true
			}
		case "copy":
			if spelled || null {
				return true
			}
		case "add", "replace":
			null = null || has && text == nil
			spelled = spelled || has && text != nil && !asPrinted(*text)
		}
	}
	return false
}

// TestLikeLibrary applies random patches to random documents, and compares outcomes and error texts with the library. DEED_CASES sets the
// number of cases, DEED_SEED their seed.
func TestLikeLibrary(t *testing.T) {
	cases, seed := number(t, "DEED_CASES", 10_000), seeds.First(t)
	m := maker{seeds.Stream(seed, 0)}
	applied, refused, panics, known := 0, 0, 0, 0
	for range cases {
		document := "{}"
		for document = m.text(4, false); document[0] != '{'; {
			document = m.text(4, false)
		}
		before, err := value.Parse([]byte(document))
		if err != nil {
			t.Fatalf("%s: %v", document, err)
		}
		operations := make([]string, 1+m.IntN(4))
		for i := range operations {
			operations[i] = m.operation(before)
		}
		text := "[" + strings.Join(operations, ",") + "]"
		patch, err := Decode([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want, wantText, ok := byLibrary(patch, before.String())
		after, err := Apply(t.Context(), patch, before)
		switch {
		case !ok:
			panics++
			continue
		case remembersSpelling(patch):
			known++
			continue
		}
		got := fmt.Sprint(after, err)
		if err != nil {
			got = err.Error()
			refused++
		} else {
			applied++
		}
		if got != want {
			t.Errorf("seed %d: %s\non %s\n got %s\nwant %s", seed, text, before, got, want)
		}
		if gotText := textOf(t.Context(), patch, before); gotText != wantText {
			t.Errorf("seed %d: %s\non %s\n got the text %s\nwant %s", seed, text, before, gotText, wantText)
		}
		if before.String() != document {
			t.Fatalf("seed %d: %s\nchanged its document %s", seed, text, document)
		}
	}
	t.Logf("%d applied, %d refused, %d on which the library panics, %d known to differ", applied, refused, panics, known)
	if applied < cases/6 || refused < cases/6 {
		t.Error("too few are applied or refused")
	}
}

// TestWrittenNull checks that a null in an object is equal to the null of a test only if it was in the document.
func TestWrittenNull(t *testing.T) {
	document, err := value.Parse([]byte(`{"a":{"b":1,"c":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`[{"op":"test","path":"/a","value":{"b":1,"c":null}}]`,
		`[{"op":"replace","path":"/a/b","value":null},{"op":"test","path":"/a","value":{"b":null,"c":null}}]`,
		`[{"op":"replace","path":"/a/b","value":null},{"op":"test","path":"/a/b","value":null}]`,
		`[{"op":"add","path":"/a","value":{"b":null}},{"op":"test","path":"/a","value":{"b":null}}]`,
	} {
		patch, err := Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		want, _, ok := byLibrary(patch, document.String())
		after, err := Apply(t.Context(), patch, document)
		got := fmt.Sprint(after, err)
		if err != nil {
			got = err.Error()
		}
		if !ok || got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestCopies doubles a document until its copies reach the bound.
func TestCopies(t *testing.T) {
	operation := `{"op":"copy","from":"/a","path":"/a/-"}`
	patch, err := Decode([]byte("[" + strings.Repeat(operation+",", 99) + operation + "]"))
	if err != nil {
		t.Fatal(err)
	}
	document, _ := value.Parse([]byte(`{"a":["x"]}`))
	before := allocated()
	_, err = Apply(t.Context(), patch, document)
	const want = "Unable to complete the copy, the accumulated size increase of copy is "
	if err == nil || !strings.HasPrefix(err.Error(), want) || !Bound(err) {
		t.Errorf("the error is %v", err)
	}
	if bytes := allocated() - before; bytes > 40*MaxCopied {
		t.Errorf("%d bytes are allocated", bytes)
	}
}

// TestSplits uses deep paths into values that the patch itself wrote.
func TestSplits(t *testing.T) {
	const depth = 9000
	deep := strings.Repeat(`{"a":`, depth) + strconv.Quote(strings.Repeat("x", 10_000)) + strings.Repeat("}", depth)
	patch, err := Decode([]byte(`[{"op":"add","path":"/a","value":` + deep + `},{"op":"remove","path":"` + strings.Repeat("/a", depth) + `"}]`))
	if err != nil {
		t.Fatal(err)
	}
	before := allocated()
	if _, err = Apply(t.Context(), patch, value.Object()); !errors.Is(err, errTooSplit) {
		t.Errorf("the error is %v", err)
	}
	if bytes := allocated() - before; bytes > 8*MaxSplit {
		t.Errorf("%d bytes are allocated", bytes)
	}
}

// TestEnd ends the context before the patch is applied.
func TestEnd(t *testing.T) {
	patch, err := Decode([]byte(`[{"op":"remove","path":"/a"}]`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Apply(ctx, patch, value.Object()); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestDeep moves one part into another until the outcome is nested too deeply to be read again.
func TestDeep(t *testing.T) {
	deep := strings.Repeat("[", 6000) + strings.Repeat("]", 6000)
	document, err := value.Parse([]byte(`{"a":` + deep + `,"b":` + deep + `}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{"/a/-": nil, "/a" + strings.Repeat("/0", 5999) + "/-": errTooDeep} {
		patch, err := Decode([]byte(`[{"op":"move","from":"/b","path":"` + path + `"}]`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Apply(t.Context(), patch, document); !errors.Is(err, want) {
			t.Errorf("the error is %v, want %v", err, want)
		}
	}
}

// TestGrowth measures allocations for n, 2n and 4n operations on documents of proportional size. They must not grow faster than n.
func TestGrowth(t *testing.T) {
	list := func(n int) string { return `{"a":[` + strings.TrimSuffix(strings.Repeat("1,", 20*n), ",") + `]}` }
	deep := func(n int) string {
		return strings.Repeat(`{"a":`, n) + strconv.Quote(strings.Repeat("x", 100*n)) + strings.Repeat("}", n)
	}
	many := func(operation string) func(n int) string {
		return func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(operation+",", n), ",") + "]" }
	}
	for name, of := range map[string]struct{ document, patch func(n int) string }{
		"items added in front":  {list, many(`{"op":"add","path":"/a/0","value":1}`)},
		"items removed":         {list, many(`{"op":"remove","path":"/a/0"}`)},
		"items moved":           {list, many(`{"op":"move","from":"/a/0","path":"/a/-"}`)},
		"a deep path":           {deep, func(n int) string { return `[{"op":"add","path":"` + strings.Repeat("/a", n) + `","value":1}]` }},
		"a deep path is tested": {deep, func(n int) string { return `[{"op":"test","path":"` + strings.Repeat("/a", n+1) + `"}]` }},
		"members added":         {list, func(n int) string { return additions(n) }},
		"white space is tested": {list, func(n int) string {
			return `[{"op":"add","path":"/x","value":[` + strings.Repeat(" ", 100*n) + `]}` + strings.Repeat(`,{"op":"test","path":"/x","value":[]}`, n) + `]`
		}},
	} {
		var cost [3]int64
		for i := range cost {
			n := 400 << i
			patch, err := Decode([]byte(of.patch(n)))
			if err != nil {
				t.Fatal(err)
			}
			document, err := value.Parse([]byte(of.document(n)))
			if err != nil {
				t.Fatal(err)
			}
			before := allocated()
			_, _ = Apply(t.Context(), patch, document) // only the cost matters
			cost[i] = allocated() - before
		}
		if cost[2] > 5*cost[0]+1<<20 || cost[2] > 64<<20 {
			t.Errorf("%s: n, 2n and 4n allocate %d bytes", name, cost)
		}
	}
}

// additions returns a patch that adds n members.
func additions(n int) string {
	operations := make([]string, n)
	for i := range operations {
		operations[i] = fmt.Sprintf(`{"op":"add","path":"/m%d","value":{"a":%d}}`, i, i)
	}
	return "[" + strings.Join(operations, ",") + "]"
}

// allocated returns the bytes that the process has allocated.
func allocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}
