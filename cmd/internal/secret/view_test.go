package secret

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

const secretHead = `"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}`

// view returns the view of an object. Its rules know a custom resource with passwords.
func view(t *testing.T, text string) View {
	t.Helper()
	var r Rules
	r.Learn(parsed(t, `{"kind":"CustomResourceDefinition","spec":{"group":"example.com","names":{"kind":"Vault"},"versions":[{"schema":{"openAPIV3Schema":
		{"properties":{"tokens":{"items":{"format":"password"}},"users":{"items":{"properties":{"token":{"format":"password"},"role":{}}}},"size":{},"pair":{"format":"password","properties":{"a":{}},"items":{}}}}}}]}}`))
	return r.View(parsed(t, text))
}

const (
	aSecret = `{` + secretHead + `}`
	aVault  = `{"apiVersion":"example.com/v2","kind":"Vault"}`
	another = `{"apiVersion":"v1","kind":"ConfigMap"}`
)

func pathOf(t *testing.T, text string) fieldpath.Path {
	t.Helper()
	p, err := fieldpath.ParsePath(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPaths(t *testing.T) {
	for _, c := range []struct{ object, path, want string }{
		{aSecret, `.data.password`, `.data.password`},
		{aSecret, `.data.password.inside`, `.data.password."***"`},
		{aSecret, `.data[="x"]`, `.data[="***"]`},
		{aSecret, `.data[="x"].y`, `.data[="***"]."***"`},
		{aSecret, `.data[name="x"]`, `.data[name="***"]`},
		{aSecret, `.data[0]`, `.data[0]`},
		{aSecret, `.metadata.finalizers[="x"]`, `.metadata.finalizers[="x"]`},
		{aSecret, `.metadata.managedFields[0].fieldsV1."f:data"."v:\"x\""`, `.metadata.managedFields[0].fieldsV1."f:data"."v:…"`},
		{aSecret, `."k:{\"a\":\"x\"}"`, `."k:…"`},
		{aVault, `.tokens[="x"]`, `.tokens[="***"]`},
		{aVault, `.users[token="x"].role`, `.users[token="***"].role`},
		{aVault, `.pair.a`, `.pair."***"`},
		{aVault, `.pair[="x"]`, `.pair[="***"]`},
		{aVault, `.tokens.a.b`, `.tokens.a."***"`},
		{aVault, `.users[role="x"].token.a`, `.users[role="x"].token."***"`},
		{aVault, `.users[role="x"]`, `.users[role="x"]`},
		{another, `.data[="x"]."v:x"`, `.data[="x"]."v:x"`},
		{`{}`, `.data[="x"]`, `.data[="***"]`},
	} {
		if got := view(t, c.object).Path(pathOf(t, c.path)); got != c.want {
			t.Errorf("%s in %s is shown as %s, want %s", c.path, c.object, got, c.want)
		}
	}
	for path, want := range map[string]string{`.metadata.name`: "name", `.users[token="x"]`: `[token="***"]`, `.size`: "size"} {
		if got := view(t, aVault).Last(pathOf(t, path)); got != want {
			t.Errorf("the last step of %s is shown as %s, want %s", path, got, want)
		}
	}
	if got := view(t, aVault).Last(nil); got != "" {
		t.Errorf("the last step of no path is shown as %s", got)
	}
	if got := (View{}).Path(pathOf(t, `.a[="x"]`)); strings.Contains(got, "x") {
		t.Errorf("the zero View shows %s", got)
	}
}

func TestValues(t *testing.T) {
	record := `{"metadata":{"annotations":{"` + lastApplied + `":"x","b":"c"}}}`
	for _, c := range []struct{ object, path, before, after, wantBefore, wantAfter string }{
		{aSecret, ".data", `{"a":"x","b":"y","c":"z"}`, `{"a":"x","b":"n","d":"z"}`,
			`{"a":"***","b":"*** (before)","c":"***"}`, `{"a":"***","b":"*** (after)","d":"***"}`},
		{aSecret, ".data.a", `"x"`, `"y"`, `"*** (before)"`, `"*** (after)"`},
		{aSecret, ".data.a", `"x"`, `"x"`, `"***"`, `"***"`},
		{aSecret, ".data.a.b", `["x"]`, `["x"]`, `"***"`, `"***"`},
		{aSecret, ".data", `"x"`, `{"a":"y"}`, `"*** (before)"`, `"*** (after)"`},
		{aSecret, ".data", `["x"]`, `["x"]`, `"***"`, `"***"`},
		{aSecret, ".stringData.a", `1`, `1`, `"***"`, `"***"`},
		{aSecret, ".misspelt.a", `1`, `1`, `"***"`, `"***"`},
		{aSecret, ".type", `"x"`, `"y"`, `"x"`, `"y"`},
		{aSecret, ".immutable", `true`, `true`, `true`, `true`},
		{aSecret, ".metadata.labels", `{"a":"b"}`, `{"a":"b"}`, `{"a":"b"}`, `{"a":"b"}`},
		{aSecret, ".metadata", `"x"`, `"x"`, `"***"`, `"***"`},
		{aSecret, ".metadata.annotations", `["x"]`, `["x"]`, `"***"`, `"***"`},
		{aSecret, "", record, record, strings.Replace(record, `"x"`, `"***"`, 1), strings.Replace(record, `"x"`, `"***"`, 1)},
		{aVault, ".users", `[{"token":"x","role":"a"},{"token":"y"}]`, `[{"token":"z","role":"a"}]`,
			`[{"token":"*** (before)","role":"a"},{"token":"***"}]`, `[{"token":"*** (after)","role":"a"}]`},
		{aVault, ".users", `{"a":"x"}`, `{"a":"x"}`, `"***"`, `"***"`},
		{aVault, ".pair", `{"a":"x"}`, `{"a":"y"}`, `"*** (before)"`, `"*** (after)"`},
		{aVault, ".pair.a", `"x"`, `"x"`, `"***"`, `"***"`},
		{aVault, ".size", `1`, `2`, `1`, `2`},
		{another, ".data.a", `"x"`, `"y"`, `"x"`, `"y"`},
		{`{"apiVersion":"example.com/v1","kind":"secret"}`, ".data.a", `"x"`, `"x"`, `"***"`, `"***"`},
		{`{"data":{"a":"x"}}`, ".data.a", `"x"`, `"x"`, `"***"`, `"***"`},
	} {
		v := view(t, c.object)
		before, after := v.Pair(pathOf(t, c.path), parsed(t, c.before), parsed(t, c.after))
		if !before.shown.Equal(parsed(t, c.wantBefore)) || !after.shown.Equal(parsed(t, c.wantAfter)) {
			t.Errorf("%s of %s: %s and %s are shown as\n%s and %s, want\n%s and %s",
				c.path, c.object, c.before, c.after, before.AppendJSON(nil), after.AppendJSON(nil), c.wantBefore, c.wantAfter)
		}
	}
	if got := (View{}).Value(nil, value.String("x")).String(); got != masked {
		t.Errorf("the zero View shows %s", got)
	}
}

// TestObjects masks objects with their managed fields.
func TestObjects(t *testing.T) {
	o, err := managedfields.ParseObject([]byte(`{` + secretHead[:len(secretHead)-1] + `,"managedFields":[
		{"manager":"a","operation":"Apply","fieldsV1":{"f:data":{"f:a":{},"v:\"hush\"":{}}}},{"manager":"b","operation":"Apply","fieldsV1":{"v:hush":{}}},
		{"manager":"c","operation":"Apply","fieldsV1":{"f:type":{}}}]},"data":{"a":"hush"},"type":"x2"}`))
	if err != nil {
		t.Fatal(err)
	}
	shown := string(view(t, aSecret).Object(o).AppendJSON(nil))
	if strings.Contains(shown, "hush") || !strings.Contains(shown, `"f:type":{}`) || !strings.Contains(shown, "x2") ||
		!strings.Contains(shown, `"manager":"b","operation":"Apply"`) {
		t.Errorf("shown as %s", shown)
	}
	open := &Rules{Show: true}
	if got := string(open.View(o.Content).Object(o).AppendJSON(nil)); got != string(o.AppendJSON(nil)) {
		t.Errorf("with Show, shown as %s", got)
	}
	none := o
	none.Entries = nil
	if got := view(t, aSecret).Object(none); got.Entries != nil {
		t.Errorf("an object without managed fields is shown with %v", got.Entries)
	}
}

func TestErrors(t *testing.T) {
	defect := &typed.Error{Path: pathOf(t, ".data.a"), Reason: typed.WrongKind, Detail: "detail hush", Plain: "plain hush", Redacted: "got int"}
	harmless := &typed.Error{Path: pathOf(t, ".metadata.labels"), Reason: typed.WrongKind, Detail: "detail y", Plain: "plain y", Redacted: "got int"}
	conflicts := merge.Conflicts{{
		Owner: merge.Entry{Manager: merge.Manager{Name: "m", Operation: merge.Apply}}, Path: pathOf(t, `.data[="hush"]`), Live: value.String("hush"), Wanted: value.String("hush"),
	}}
	_, unreadable := fieldpath.ParseSet([]byte(`{"v:hush":{}}`))
	typeError := &managedfields.TypeError{Operation: merge.Apply, Role: "patch", Object: "/s", Err: typed.Errors{defect, harmless}}
	for _, c := range []struct {
		err  error
		want string
	}{
		{defect, ".data.a: got int"},
		{harmless, ".metadata.labels: detail y"},
		{&typed.Error{Path: pathOf(t, `.data[="hush"]`), Reason: typed.WrongKind, Detail: "hush", Plain: "hush", Redacted: "got int"}, `.data[="***"]: got int`},
		{&yaml.Error{File: "f", Line: 1, Reason: `key "v:\"hush\"" is already set in line 2`}, `f:1: key "v:…`},
		{fmt.Errorf("hush: %w", &yaml.Error{Reason: "a tab cannot indent YAML"}), "a tab cannot indent YAML"},
		{typeError, "failed to create typed patch object (/s): errors:\n  .data.a: got int\n  .metadata.labels: detail y"},
		{fmt.Errorf("hush: %w", typeError), "failed to create typed patch object (/s): errors:\n  .data.a: got int\n  .metadata.labels: detail y"},
		{conflicts, `Apply failed with 1 conflict: conflict with "m": .data[="***"]`},
		{&managedfields.EntryError{Index: 1, Manager: "m", Err: errors.New("hush")}, `metadata.managedFields[1], manager "m": ` + hidden},
		{&managedfields.EntryError{Index: 1, Manager: "m", Err: unreadable}, `metadata.managedFields[1], manager "m": invalid fieldsV1 at byte 1`},
		{&managedfields.BadRequestError{Reason: "metadata.managedFields must be nil"}, "metadata.managedFields must be nil"},
		{&managedfields.BadRequestError{Reason: "hush", Err: errors.New("hush")}, hidden},
		{&form.Error{Path: pathOf(t, ".data.a")}, ".data.a: the value does not fit into the Go type of the field"},
		{errors.Join(defect, errors.New("hush")), ".data.a: got int\n" + hidden},
		{errors.New("hush"), hidden},
		{fmt.Errorf("hush: %w", ownership.ErrNoManager), ownership.ErrNoManager.Error()},
		{Errorf("said %d", 1), "said 1"},
		{nil, ""},
	} {
		v := view(t, aSecret)
		if got := v.Error(c.err); got != c.want {
			t.Errorf("%v is shown as\n%s, want\n%s", c.err, got, c.want)
		}
		if c.err == nil {
			continue
		}
		if status := v.Status(c.err); strings.Contains(fmt.Sprintf("%+v %+v", *status, status.Details), "hush") {
			t.Errorf("the status of %v is %+v %+v", c.err, *status, status.Details)
		}
		if got := Open.Error(c.err); got != c.err.Error() {
			t.Errorf("%v is shown as %s to whoever may see it", c.err, got)
		}
	}
	v := view(t, aSecret)
	var redacted merge.Conflicts
	if !errors.As(v.Redact(conflicts), &redacted) || len(redacted) != 1 || !redacted[0].Live.IsAbsent() || !redacted[0].Wanted.IsAbsent() {
		t.Errorf("the conflicts are redacted as %v", redacted)
	}
	if got := v.Defect(defect); got != ".data.a: got int" {
		t.Errorf("the defect is shown as %s", got)
	}
	if got := Open.Defect(defect); got != ".data.a: plain hush" {
		t.Errorf("the defect is shown as %s", got)
	}
	if got := v.Reason(pathOf(t, ".data.a"), RawText("hush")); got != hidden {
		t.Errorf("the reason is shown as %s", got)
	}
	if got := v.Reason(pathOf(t, ".type"), RawText("y")); got != "y" {
		t.Errorf("the reason is shown as %s", got)
	}
	if got := fmt.Sprint(RawText("hush"), KeyOf(pathOf(t, ".hush")), v); strings.Contains(got, "hush") {
		t.Errorf("raw text prints as %s", got)
	}
	var r Rules
	if got := r.Panic("hush") + r.Panic(errors.New("hush")); strings.Contains(got, "hush") {
		t.Errorf("a panic is shown as %s", got)
	}
	if got := r.Unread(errors.New(`key "v:\"hush\"" is already set`)); strings.Contains(got, "hush") {
		t.Errorf("an unreadable text is shown as %s", got)
	}
}
