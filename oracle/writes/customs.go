package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/oracle/pair"
)

// definitionsPath is where definitions of custom resources are.
const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// customs defines random custom resources on both servers, and returns their kinds. It compares the answers, the stored definitions and the
// published schemas. A definition that a server refuses is left out.
func (c *campaign) customs() ([]*kind, error) {
	var out []*kind
	refused := 0
	for number := range c.definitions {
		d := newDefinition(c.seed, number)
		if c.converters != nil {
			c.converters.configure(d)
		}
		created, err := c.define(d)
		if err != nil {
			return nil, fmt.Errorf("definition %d: %w", number, err)
		}
		if !created {
			refused++
			continue
		}
		k, err := c.customKind(d)
		if err != nil {
			return nil, fmt.Errorf("definition %d: %w", number, err)
		}
		out = append(out, k)
	}
	fmt.Printf("%d definitions, %d of them refused\n", c.definitions, refused)
	return out, nil
}

// define creates a definition on both servers, and compares what they say of it. It also sends definitions with something wrong: before, as dry
// runs of a create, and after, as dry runs of an apply or a patch. It reports whether both servers have created the definition.
func (c *campaign) define(d *definition) (created bool, err error) {
	if err := c.spoil(d, http.MethodPost, definitionsPath, ""); err != nil {
		return false, err
	}
	there, here, err := c.both(pair.Request{Method: http.MethodPost, Path: definitionsPath, Body: d.body})
	if err != nil {
		return false, err
	}
	var more []string
	if created = isDefined(there) && isDefined(here); created {
		if there.after, err = d.established(c.real); err != nil {
			return false, err
		}
		if here.after, err = d.established(c.deed); err != nil {
			return false, err
		}
		documents, err := d.documents(c.real, c.deed)
		if err != nil {
			return false, err
		}
		pair.Differ(documents[0], documents[1], "document", func(format string, a ...any) { more = append(more, fmt.Sprintf(format, a...)) })
	}
	if c.note(d, there, here, more); !created {
		return false, nil
	}
	for _, contentType := range [...]string{applyPatch, mergePatch} {
		if err := c.spoil(d, http.MethodPatch, d.path(), contentType); err != nil {
			return false, err
		}
	}
	return true, nil
}

// hidden is an empty part of a schema or a version.
var hidden = regexp.MustCompile(`"(required|enum|allOf|anyOf|oneOf|x-kubernetes-[a-z-]+|additionalPrinterColumns|selectableFields)":\[\]|"properties":\{\}`)

// spoil sends a definition with something wrong to both servers, as dry runs.
func (c *campaign) spoil(d *definition, method, path, contentType string) error {
	for n := range spoiledDefinitions {
		w := &writer{Rand: rand.New(rand.NewPCG(c.seed, uint64(n)<<32|uint64(d.number)))}
		body := w.spoiled(d.body)
		if w.chance(0.3) {
			body = w.spoiled(body)
		}
		if contentType == mergePatch && hidden.MatchString(pair.Text(body)) { // which counts as a change there, see docs/divergences.md
			continue
		}
		query := "?dryRun=All&fieldManager=m"
		if contentType == applyPatch {
			query += "&force=true"
		}
		there, here, err := c.both(pair.Request{Method: method, Path: path + query, ContentType: contentType, Body: body})
		if err != nil {
			return err
		}
		c.note(d, there, here, nil)
	}
	return nil
}

// spoiledDefinitions is how many dry runs with something wrong there are of each kind of write.
const spoiledDefinitions = 20

// isDefined reports whether a server has a definition now, which may be from an earlier run.
func isDefined(o outcome) bool {
	return o.answer.Code == http.StatusCreated || o.answer.Code == http.StatusConflict
}

// both sends a request about a definition to both servers.
func (c *campaign) both(q pair.Request) (there, here outcome, err error) {
	there, here = outcome{op: define, request: q}, outcome{op: define, request: q}
	if there.answer, err = c.real.Send(q); err == nil {
		here.answer, err = c.deed.Send(q)
	}
	for _, a := range [...]*pair.Answer{&there.answer, &here.answer} {
		a.Object = withoutServer(a.Object)
		a.Message = withoutObject(a.Message)
		for i := range a.Details.Causes {
			a.Details.Causes[i].Message = withoutObject(a.Details.Causes[i].Message)
		}
	}
	return there, here, err
}

// withoutServer returns a definition without the managed fields of the server that wrote its status: they have the name of its program.
func withoutServer(object map[string]any) map[string]any {
	entries, _ := pair.Get(object, "metadata", "managedFields").([]any)
	if len(entries) == 0 {
		return object
	}
	others := slices.DeleteFunc(slices.Clone(entries), func(e any) bool { return pair.Get(e, "subresource") == "status" })
	return with(object, others, "metadata", "managedFields")
}

// withoutObject returns a message without the object that it quotes, which has those managed fields.
func withoutObject(message string) string {
	before, rest, ok := strings.Cut(message, `"{`)
	_, after, isObject := strings.Cut(rest, `}": `)
	if !ok || !isObject || !strings.Contains(rest, "managedFields") {
		return message
	}
	return before + "OBJECT: " + after
}

// note prints what differs in the outcomes of a definition.
func (c *campaign) note(d *definition, there, here outcome, more []string) {
	if there.answer.Code == 0 { // the real server panics
		return
	}
	differences, _ := compare(there, here)
	if differences = append(differences, more...); len(differences) > 0 {
		c.found++
		c.print(&history{kind: &kind{name: d.kind}}, 0, there, here, differences)
	}
}

// path returns the path of the definition.
func (d *definition) path() string { return fmt.Sprint(definitionsPath, "/", d.plural, ".", d.group) }

// patience is how long a server may take to serve a definition.
const patience = 20 * time.Second

// established waits until a server has accepted the names of a definition, and returns the stored definition.
func (d *definition) established(s *pair.Server) (map[string]any, error) {
	path := d.path()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		a, err := s.Send(pair.Request{Method: http.MethodGet, Path: path})
		if err != nil {
			return nil, err
		}
		conditions, _ := pair.Get(a.Object, "status", "conditions").([]any)
		for _, condition := range conditions {
			if pair.Get(condition, "type") == "Established" && pair.Get(condition, "status") == "True" {
				return withoutServer(a.Object), nil
			}
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%s is not established", path)
		}
	}
}

// documents returns the published schemas of a definition on each server, once they are there.
func (d *definition) documents(servers ...*pair.Server) ([]any, error) {
	var out []any
	for _, s := range servers {
		versions := map[string]any{}
		for _, version := range d.versions {
			schemas, err := d.document(s, version)
			if err != nil {
				return nil, err
			}
			versions[version] = schemas
		}
		out = append(out, versions)
	}
	return out, nil
}

// document returns the published schema of a version of a definition.
func (d *definition) document(s *pair.Server, version string) (any, error) {
	path := fmt.Sprint("/openapi/v3/apis/", d.group, "/", version)
	name := fmt.Sprintf("org.example.w%d.%s.%s", d.seed, version, d.kind)
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		a, err := s.Send(pair.Request{Method: http.MethodGet, Path: path})
		if err != nil {
			return nil, err
		}
		if schema := pair.Get(a.Object, "components", "schemas", name); schema != nil {
			return schema, nil
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%s has no schema %s", path, name)
		}
	}
}

// customKind returns the kind of a definition.
func (c *campaign) customKind(d *definition) (*kind, error) {
	k := &kind{name: d.kind, values: map[string][]any{}, defined: d.body}
	served := pair.NewDiscovery(c.real) // a new one, as the group has a new resource
	for _, version := range d.versions {
		g, err := served.Group(d.group + "/" + version)
		if err != nil {
			return nil, err
		}
		k.versions = append(k.versions, g)
		k.subresources = g.Subresources[k.name]
	}
	if d.namespaced {
		k.namespace = "default"
	}
	for _, b := range d.bases() {
		k.add(b)
	}
	if c.changes {
		k.definition = d
	}
	return k, nil
}
