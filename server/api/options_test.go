package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

func query(t *testing.T, text string) url.Values {
	t.Helper()
	q, err := url.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestListOptions parses the queries of lists.
func TestListOptions(t *testing.T) {
	for text, want := range map[string]string{
		"":                           `labels="" fields="" watch=false bookmarks=false version="" match="" limit=0 continue="" timeout=0s initial=<nil>`,
		"limit=-1&timeoutSeconds=-2": `labels="" fields="" watch=false bookmarks=false version="" match="" limit=0 continue="" timeout=-2s initial=<nil>`,
		"limit=1&timeoutSeconds=90&labelSelector=b,a=1&fieldSelector=c=2&watch&allowWatchBookmarks=1&resourceVersion=7&resourceVersionMatch=NotOlderThan&sendInitialEvents=true": `labels="a=1,b" ` +
			`fields="c=2" watch=true bookmarks=true version="7" match="NotOlderThan" limit=1 continue="" timeout=1m30s initial=true`,
		"watch=false&allowWatchBookmarks=FALSE&sendInitialEvents=0&continue=x": `ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`,
		"watch=0&continue=x":     `labels="" fields="" watch=false bookmarks=false version="" match="" limit=0 continue="x" timeout=0s initial=<nil>`,
		"limit=x":                `strconv.ParseInt: parsing "x": invalid syntax`,
		"timeoutSeconds=1.5":     `strconv.ParseInt: parsing "1.5": invalid syntax`,
		"labelSelector=a=b=c":    `found '=', expected: ',' or 'end of string'`,
		"fieldSelector=a":        `invalid selector: 'a'; can't understand 'a'`,
		"resourceVersionMatch=x": `ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, resourceVersionMatch: Unsupported value: "x": supported values: "Exact", "NotOlderThan", ""]`,
	} {
		o, err := ParseListOptions(query(t, text))
		got := fmt.Sprint(err)
		if err == nil {
			initial := "<nil>"
			if o.SendInitialEvents != nil {
				initial = fmt.Sprint(*o.SendInitialEvents)
			}
			got = fmt.Sprintf("labels=%q fields=%q watch=%t bookmarks=%t version=%q match=%q limit=%d continue=%q timeout=%v initial=%s",
				o.Labels, o.Fields, o.Watch, o.Bookmarks, o.Version, o.Match, o.Limit, o.Continue, o.Timeout, initial)
		}
		if !strings.HasSuffix(got, want) {
			t.Errorf("%s\n is %s\nwant %s", text, got, want)
		}
	}
}

// TestVersions parses resource versions. The parameter of a list is refused in another way than other versions.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		text string
		list bool
		want string
		code int
	}{
		{"", true, "0", 0}, {"0", false, "0", 0}, {"7", true, "7", 0}, {"18446744073709551615", false, "18446744073709551615", 0},
		{"-1", true, `invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax`, 400},
		{"18446744073709551616", false, `resourceVersion: Invalid value: "18446744073709551616": strconv.ParseUint: parsing "18446744073709551616": value out of range`, 500},
	} {
		n, err := ParseVersion(c.text, c.list)
		got, code := fmt.Sprint(n), 0
		if err != nil {
			got, code = err.Error(), int(StatusOf(err).Code)
		}
		if got != c.want || code != c.code {
			t.Errorf("%q: %d %s, want %d %s", c.text, code, got, c.code, c.want)
		}
	}
}

// TestDeleteOptions parses the queries of deletes.
func TestDeleteOptions(t *testing.T) {
	for text, want := range map[string]string{
		"": `{}`,
		"gracePeriodSeconds=0&dryRun=All&orphanDependents=false&propagationPolicy=Orphan&uid=u&resourceVersion=1&ignoreStoreReadErrorWithClusterBreakingPotential": `{"gracePeriodSeconds":0,` +
			`"preconditions":{"uid":"u","resourceVersion":"1"},"orphanDependents":false,"propagationPolicy":"Orphan","dryRun":["All"],"ignoreStoreReadErrorWithClusterBreakingPotential":true}`,
		"uid=u":                 `{"preconditions":{"uid":"u"}}`,
		"resourceVersion=1":     `{"preconditions":{"resourceVersion":"1"}}`,
		"propagationPolicy=":    `{"propagationPolicy":""}`,
		"gracePeriodSeconds=1s": `strconv.ParseInt: parsing "1s": invalid syntax`,
	} {
		o, err := ParseDeleteOptions(query(t, text))
		got := fmt.Sprint(err)
		if err == nil {
			b, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			got = string(b)
		}
		if got != want {
			t.Errorf("%s\n is %s\nwant %s", text, got, want)
		}
	}
}

// TestWriteOptions parses the queries of writes, each with its verb.
func TestWriteOptions(t *testing.T) {
	parsers := map[string]func(url.Values) (WriteOptions, error){
		"create": ParseCreateOptions, "update": ParseUpdateOptions,
		"patch": func(q url.Values) (WriteOptions, error) { return ParsePatchOptions(q, types.MergePatchType) },
		"apply": func(q url.Values) (WriteOptions, error) { return ParsePatchOptions(q, types.ApplyYAMLPatchType) },
	}
	for _, c := range []struct{ verb, query, want string }{
		{"create", "", "{ Warn false false} <nil>"},
		{"create", "fieldManager=m&dryRun=All&fieldValidation=Strict", "{m Strict true false} <nil>"},
		{"update", "fieldManager=m&dryRun=All&fieldValidation=Ignore", "{m Ignore true false} <nil>"},
		{"patch", "fieldManager=m&fieldValidation=Warn", "{m Warn false false} <nil>"},
		{"apply", "fieldManager=m&force", "{m Warn false true} <nil>"},
		{"apply", "fieldManager=m&force=false", "{m Warn false false} <nil>"},
		{"create", "dryRun=Some", `CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"`},
		{"update", "fieldValidation=x", `UpdateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"`},
		{"patch", "force=true", `PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch`},
		{"apply", "", `PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`},
	} {
		o, err := parsers[c.verb](query(t, c.query))
		got := fmt.Sprint(o, " ", err)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s?%s is %s, want %s", c.verb, c.query, got, c.want)
		}
	}
	long := strings.Repeat("ä", 63) + "x"
	for agent, want := range map[string]string{
		"kubectl/v1 (x)": "kubectl", "": "", "a\u200bb\n": "ab", long + "yz/1": long + "y", long + "ö": long,
	} {
		if got := (WriteOptions{}).ManagerOr(agent); got != want {
			t.Errorf("the manager of %q is %q, want %q", agent, got, want)
		}
	}
	if got := (WriteOptions{Manager: "m"}).ManagerOr("kubectl"); got != "m" {
		t.Errorf("a manager that is named is %s", got)
	}
}

// TestStatusOf checks the status of errors.
func TestStatusOf(t *testing.T) {
	owner := merge.Entry{Manager: merge.Manager{Name: "m", Operation: merge.Update, APIVersion: "v1"}}
	conflict := Refused(merge.Conflicts{{Path: fieldpath.Path{fieldpath.Field("a")}, Owner: owner}})
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("no"), "500  no"},
		{fmt.Errorf("so: %w", kerrors.NewBadRequest("no")), "400 BadRequest no"},
		{&kerrors.StatusError{}, "500  "},
		{Modified(Target{Group: "g", Resource: "things"}.GroupResource(), "a"), "409 Conflict Operation cannot be fulfilled on things.g \"a\": " + ModifiedText},
		{NoResource(), "404 NotFound the server could not find the requested resource"},
		{NoMethod(), "405 MethodNotAllowed the server does not allow this method on the requested resource"},
		{TooLarge(3), "413 RequestEntityTooLarge Request entity too large: limit is 3"},
		{conflict, `409 Conflict Apply failed with 1 conflict: conflict with "m" using v1: .a`},
		{Refused(errors.New("no")), "500  no"},
	} {
		s := StatusOf(c.err)
		if got := fmt.Sprint(s.Code, " ", s.Reason, " ", s.Message); got != c.want || s.Kind != "Status" || s.APIVersion != "v1" {
			t.Errorf("%v is %s, want %s", c.err, got, c.want)
		}
	}
	if causes := StatusOf(conflict).Details.Causes; len(causes) != 1 || fmt.Sprint(causes[0]) != `{FieldManagerConflict conflict with "m" using v1 .a}` {
		t.Errorf("the causes are %v", causes)
	}
	if err := Refused(nil); err != nil {
		t.Errorf("nothing is refused with %v", err)
	}
}

// TestMetadata changes and validates the metadata of any kind.
func TestMetadata(t *testing.T) {
	parse := func(text string) value.Value {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	bare, named := parse(`{}`), parse(`{"metadata":{"name":"a","namespace":"n","uid":"u","creationTimestamp":"t","deletionTimestamp":"t","deletionGracePeriodSeconds":1,"selfLink":"s","generation":2}}`)
	for got, want := range map[string]string{
		WithMetadata(bare, "name", value.Value{}).String():     `{}`,
		WithMetadata(bare, "name", value.String("a")).String(): `{"metadata":{"name":"a"}}`,
		Wipe(named).String():                      `{"metadata":{"generation":2,"name":"a","namespace":"n"}}`,
		fmt.Sprint(InNamespace(bare, "")):         `{} <nil>`,
		fmt.Sprint(InNamespace(bare, "n")):        `{"metadata":{"namespace":"n"}} <nil>`,
		fmt.Sprint(InNamespace(Wipe(named), "n")): `{"metadata":{"generation":2,"name":"a","namespace":"n"}} <nil>`,
		fmt.Sprint(InNamespace(Wipe(named), "")):  `{"metadata":{"generation":2,"name":"a"}} <nil>`,
		fmt.Sprint(InNamespace(Wipe(named), "m")): `{"metadata":{"generation":2,"name":"a","namespace":"n"}} the namespace of the provided object does not match the namespace sent on the request`,
		fmt.Sprint(CheckName(named, "a")):         `<nil>`,
		fmt.Sprint(CheckName(named, "b")):         `the name of the object (a) does not match the name on the URL (b)`,
		fmt.Sprint(CheckName(bare, "b")):          `the name of the object (b based on URL) was undeterminable: name must be provided`,
		fmt.Sprint(ValidateFinalizers(parse(`{"metadata":{"finalizers":["a.b/c","kubernetes","orphan","foregroundDeletion","own"]}}`))): `[metadata.finalizers[4]: Invalid value: "own": name is neither a standard finalizer name nor is it fully qualified]`,
		fmt.Sprint(ValidateMetadata(t.Context(), parse(`{"metadata":{"name":1}}`), value.Value{}, false)):                               `[metadata: Invalid value: {"name":1}: cannot convert int64 to string]`,
	} {
		if got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
}

// TestFinalizerWarnings checks the warnings about finalizers.
func TestFinalizerWarnings(t *testing.T) {
	finalizers := func(names ...string) value.Value {
		var all []value.Value
		for _, name := range names {
			all = append(all, value.String(name))
		}
		return WithMetadata(value.Object(), "finalizers", value.List(all...))
	}
	const prefer, avoid = "prefer a domain-qualified finalizer name", " to avoid accidental conflicts with other finalizer writers"
	for _, c := range []struct {
		is, was value.Value
		want    string
	}{
		{value.Object(), value.Value{}, ""},
		{finalizers("orphan", "foregroundDeletion", "kubernetes", "a.b/c"), value.Value{}, ""},
		{finalizers("b", "a.b", "b"), value.Value{}, `metadata.finalizers: "a.b": ` + prefer + ` including a path (/)` + avoid + `; metadata.finalizers: "b": ` + prefer + avoid},
		{finalizers("b", "c"), finalizers("b"), `metadata.finalizers: "c": ` + prefer + avoid},
	} {
		if got := strings.Join(FinalizerWarnings(c.is, c.was), "; "); got != c.want {
			t.Errorf("%v after %v is warned of with %s, want %s", c.is, c.was, got, c.want)
		}
	}
	if got := FinalizerWarnings(finalizers("-/-"), value.Value{}); len(got) != 2 || !strings.HasPrefix(got[0], `metadata.finalizers: "-/-": `) {
		t.Errorf("a finalizer that is no name is warned of with %q", got)
	}
}

// TestUIDs checks that identifiers differ and have the form of random UUIDs.
func TestUIDs(t *testing.T) {
	had := map[string]bool{}
	for range 64 {
		uid := NewUID()
		if len(uid) != 36 || uid[14] != '4' || !strings.Contains("89ab", uid[19:20]) || strings.Count(uid, "-") != 4 || had[uid] {
			t.Errorf("the identifier %q", uid)
		}
		had[uid] = true
	}
}
