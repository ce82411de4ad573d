package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/connect"
	"github.com/deed-project/deed/cmd/internal/jobs"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/selection"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/kube/cluster"
	"github.com/deed-project/deed/kube/inventory"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// clusterName is the value of --live that stands for the cluster of the kubeconfig.
const clusterName = "cluster"

// clusterFlags says from which cluster stored objects come, if they do not come from files.
type clusterFlags struct{ connect.Flags }

func (f *clusterFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.Context, "context", "", "the `name` of the context in the kubeconfig, for --live cluster, which it implies")
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "the `file` with contexts, for --live cluster, which it implies")
	flags.StringVar(&f.Token, "token", "", "the bearer `token` for --live cluster, which it implies, in place of the credentials of the kubeconfig")
	flags.StringVar(&f.As, "as", "", "the `name` of the user to impersonate, for --live cluster, which it implies")
	flags.Var(list{&f.AsGroups}, "as-group", "the `name` of a group to impersonate, with --as; repeatable")
}

// isCluster reports whether stored objects come from a cluster. live holds the values of --live, and files says whether other flags name
// files with stored objects.
func (f clusterFlags) isCluster(live []string, files bool) (bool, error) {
	named := slices.Contains(live, clusterName)
	switch {
	case named && (len(live) > 1 || files):
		return false, errors.New("--live cluster stands for all stored objects: name no files with them; a file called cluster is ./cluster")
	case named:
		return true, nil
	case f.IsZero():
		return false, nil
	case len(live) > 0 || files:
		return false, errors.New("--context, --kubeconfig, --token, --as and --as-group are for --live cluster, and the stored objects come from files")
	}
	return true, nil
}

// remote is a cluster as an input.
type remote struct {
	*cli
	*connect.Cluster
	namespace string                                          // of objects that have none
	resources map[gvkschema.GroupVersionKind]cluster.Resource // what was read so far
}

// open returns the cluster of f. namespace is that of --namespace, which counts before the one of the context.
func (f clusterFlags) open(c *cli, input inputFlags, namespace string) (*remote, error) {
	if err := input.use(c); err != nil {
		return nil, err
	}
	warn := func(err error) { c.Warn(notice.InFile(clusterName), "%s", secret.Open.Error(err)) }
	opened, err := connect.Open(f.Flags, input.timeout, warn)
	if err != nil {
		return nil, err
	}
	if namespace == "" {
		namespace = opened.Namespace
	}
	return &remote{c, opened, namespace, map[gvkschema.GroupVersionKind]cluster.Resource{}}, nil
}

// reference names an object of the cluster.
type reference struct {
	gvk             gvkschema.GroupVersionKind
	namespace, name string
	config          *manifest.Object // the configuration that is for the object; nil if there is none
}

// answer is what the cluster has of a reference.
type answer struct {
	resource cluster.Resource
	text     []byte // nil if there is no such object
	err      error
}

// requests is how many requests are in flight at a time.
const requests = 16

// fetch reads objects, and yields them in order.
func (r *remote) fetch(all []reference) iter.Seq2[reference, answer] {
	return jobs.Map(requests, slices.Values(all), func(ref reference) (a answer) {
		ctx := context.Background()
		if a.resource, a.err = r.Resource(ctx, ref.gvk); a.err != nil {
			return a
		}
		namespace := ref.namespace
		if namespace == "" {
			namespace = r.namespace
		}
		if a.text, a.err = r.Object(ctx, a.resource, namespace, ref.name); apierrors.IsNotFound(a.err) {
			a.text, a.err = nil, nil
		}
		return a
	})
}

// text returns an object of the cluster as the text of a file. Its lines are those of kubectl get -o yaml --show-managed-fields.
func (r *remote) text(resource cluster.Resource, object value.Value) *manifest.Text {
	r.resources[resource.GVK] = resource
	name := clusterName + "/"
	if namespace := object.Get("metadata", "namespace").Str(); namespace != "" {
		name += namespace + "/"
	}
	return manifest.TextOf(name+resource.String()+"/"+object.Get("metadata", "name").Str(), object)
}

// parsed returns the text of an answer. The error says that the answer is no object.
func (r *remote) parsed(a answer) (*manifest.Text, error) {
	object, err := value.Parse(a.text)
	if err != nil {
		return nil, errors.New("the answer of the cluster is no JSON")
	}
	return r.text(a.resource, object), nil
}

// forConfigs reads the objects that configs would be applied to, and gives configurations without a namespace the one in which they would
// be. Objects that cannot be read are reported, and returned as unknown, with and without that namespace.
func (r *remote) forConfigs(configs *survey) (texts []*manifest.Text, unknown map[manifest.ID]bool) {
	var all []reference
	defined := map[gvkschema.GroupKind]bool{}
	for o := range configs.quiet {
		all = append(all, reference{gvkschema.GroupVersionKind(o.GVK()), o.Id.Namespace, o.Id.Name, o})
	}
	for _, o := range configs.definitions {
		spec := o.Content.Get("spec")
		defined[gvkschema.GroupKind{Group: spec.Get("group").Str(), Kind: spec.Get("names", "kind").Str()}] = true
	}
	unknown = map[manifest.ID]bool{}
	namespaced := map[gvkschema.GroupVersionKind]bool{}
	for ref, a := range r.fetch(all) {
		var unserved *cluster.UnservedError
		if errors.As(a.err, &unserved) && defined[ref.gvk.GroupKind()] {
			continue // the input brings the definition, and there are no objects yet
		}
		text := (*manifest.Text)(nil)
		if a.text != nil {
			text, a.err = r.parsed(a)
		}
		if a.err != nil {
			unknown[ref.config.Id], unknown[ref.config.WithNamespace(cmp.Or(ref.namespace, r.namespace)).Id] = true, true
			hint := ""
			if unserved != nil {
				hint = ": if its CustomResourceDefinition is applied first, name that with -f, too"
			}
			r.Problem(ref.config.At("kind"), "%v: %s%s", ref.config, secret.Open.Error(a.err), hint)
			continue
		}
		r.resources[ref.gvk] = a.resource
		if namespaced[ref.gvk] = a.resource.Namespaced; text != nil {
			texts = append(texts, text)
		}
	}
	placed := func(o *manifest.Object) *manifest.Object {
		if o.Id.Namespace == "" && namespaced[gvkschema.GroupVersionKind(o.GVK())] {
			return o.WithNamespace(r.namespace)
		}
		return o
	}
	configs.objects, configs.quiet = each(configs.objects, placed), each(configs.quiet, placed)
	return texts, unknown
}

// each yields the results of f for objects.
func each(objects iter.Seq[*manifest.Object], f func(*manifest.Object) *manifest.Object) iter.Seq[*manifest.Object] {
	return func(yield func(*manifest.Object) bool) {
		for o := range objects {
			if !yield(f(o)) {
				return
			}
		}
	}
}

// listed reads the objects of an inventory. It warns of those that are missing, and reports those that cannot be read.
func (r *remote) listed(all []reference) (texts []*manifest.Text) {
	for ref, a := range r.fetch(all) {
		text := (*manifest.Text)(nil)
		if a.text != nil {
			text, a.err = r.parsed(a)
		}
		switch shown := ref.gvk.Kind + " " + strings.TrimPrefix(ref.namespace+"/"+ref.name, "/"); {
		case a.err != nil:
			r.Problem(notice.InFile(clusterName), "%s: %s", shown, secret.Open.Error(a.err))
		case text == nil:
			r.Warn(notice.InFile(clusterName), "%s is in the inventory, and not in the cluster", shown)
		default:
			texts = append(texts, text)
		}
	}
	return texts
}

// helmRelease is the type of an inventory that names a release of Helm, in the place of the Secret with its newest revision.
const helmRelease = "release"

// inventory returns the inventory that TYPE/NAME records, and the objects in it.
func (r *remote) inventory(text string) (inventory.Inventory, []reference, error) {
	kind, name, ok := strings.Cut(text, "/")
	if !ok || kind == "" || name == "" {
		return inventory.Inventory{}, nil, fmt.Errorf("--inventory: %q is not TYPE/NAME, such as release/web or kustomization/apps", text)
	}
	owner, err := r.owner(kind, name)
	if err != nil {
		return inventory.Inventory{}, nil, fmt.Errorf("--inventory: %w", err)
	}
	found, err := inventory.Of(owner)
	if err != nil {
		return inventory.Inventory{}, nil, fmt.Errorf("--inventory: %s: %w", text, err)
	}
	var all []reference
	for _, o := range found.Objects {
		all = append(all, reference{gvk: o.GVK, namespace: o.Namespace, name: o.Name})
	}
	return found, all, nil
}

// owner returns the object that records an inventory.
func (r *remote) owner(kind, name string) (managedfields.Object, error) {
	ctx := context.Background()
	if kind == helmRelease {
		secrets, err := r.Resolve(ctx, "secrets")
		if err != nil {
			return managedfields.Object{}, err
		}
		all, err := r.List(ctx, secrets, r.namespace, "owner=helm,status=deployed,name="+name)
		if apierrors.IsForbidden(err) {
			return managedfields.Object{}, fmt.Errorf("%w: for a user who may only get them, name the Secret of a revision, such as secret/sh.helm.release.v1.%s.v1", err, name)
		}
		if err != nil {
			return managedfields.Object{}, err
		}
		if len(all) == 0 {
			return managedfields.Object{}, fmt.Errorf("no release %q of Helm is deployed%s", name, r.in(secrets))
		}
		revision := func(o value.Value) int {
			n, _ := strconv.Atoi(o.Get("metadata", "labels", "version").Str()) // 0 for a Secret without
			return n
		}
		return managedfields.ObjectOf(slices.MaxFunc(all, func(a, b value.Value) int { return cmp.Compare(revision(a), revision(b)) }))
	}
	resource, err := r.Resolve(ctx, kind)
	if err != nil {
		return managedfields.Object{}, err
	}
	owner, err := r.Object(ctx, resource, r.namespace, name)
	if apierrors.IsNotFound(err) {
		return managedfields.Object{}, fmt.Errorf("no object in the cluster is %s/%s%s", resource, name, r.in(resource))
	}
	if err != nil {
		return managedfields.Object{}, err
	}
	return managedfields.ParseObject(owner)
}

// chosen reads the objects that q names. The error is one of the command line, also if there is no such object.
func (r *remote) chosen(q selection.Query) ([]*manifest.Text, error) {
	pairs, err := q.Pairs()
	if err != nil {
		return nil, err
	}
	if len(pairs) == 0 {
		return nil, errors.New("name the objects of the cluster, such as deployment/web, or a kind, such as deployments")
	}
	namespace := r.namespace
	if q.AllSpaces {
		if namespace = ""; q.Namespace != "" {
			return nil, errors.New("--all-namespaces and --namespace exclude each other")
		}
	}
	var texts []*manifest.Text
	var all []reference
	where := ""
	for _, p := range pairs {
		resource, err := r.Resolve(context.Background(), p.Kind)
		if err != nil {
			return nil, err
		}
		r.resources[resource.GVK] = resource
		if !q.AllSpaces && q.Namespace == "" {
			where = cmp.Or(where, r.in(resource))
		}
		if p.Name != "" && q.Labels == "" && !(q.AllSpaces && resource.Namespaced) {
			all = append(all, reference{gvk: resource.GVK, namespace: r.namespace, name: p.Name})
			continue
		}
		objects, err := r.List(context.Background(), resource, namespace, q.Labels)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			if name := o.Get("metadata", "name").Str(); (p.Name == "" || p.Name == name) && (q.Name == "" || q.Name == name) {
				texts = append(texts, r.text(resource, o))
			}
		}
	}
	for ref, a := range r.fetch(all) {
		if a.err == nil && a.text == nil {
			a.err = fmt.Errorf("no object in the cluster is %s/%s%s", a.resource, ref.name, r.in(a.resource))
		}
		if a.err != nil {
			return nil, a.err
		}
		text, err := r.parsed(a)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("no object in the cluster is %v%s", q, where)
	}
	return texts, nil
}

// in says in which namespace an object was looked for.
func (r *remote) in(resource cluster.Resource) string {
	if !resource.Namespaced {
		return ""
	}
	return fmt.Sprintf(" in the namespace %q", r.namespace)
}

// schemas returns f with the schemas of the kinds that were read, and their definitions. Kinds that Kubernetes itself has need none, and
// those that f or definitions defines have theirs. It reports schemas that cannot be read.
func (r *remote) schemas(f types.Flags, definitions []*manifest.Object) (types.Flags, []*manifest.Object) {
	given, _ := r.quiet().DefinedBy(f.Crds)
	defined := map[string]bool{}
	for _, o := range slices.Concat(given, definitions) {
		defined[o.Id.Name] = true
	}
	f.OpenAPI = slices.Clone(f.OpenAPI)
	for _, gvk := range slices.SortedFunc(maps.Keys(r.resources), func(a, b gvkschema.GroupVersionKind) int { return compare(a, b) }) {
		resource := r.resources[gvk]
		if cluster.IsBuiltIn(gvk) || defined[resource.String()] {
			continue
		}
		defined[resource.String()] = true
		found, err := r.Schema(context.Background(), resource)
		if err != nil {
			r.Problem(notice.InFile(clusterName), "%s", secret.Open.Error(err))
			continue
		}
		if found.Definition == nil {
			name := clusterName + "/openapi/v3/" + gvk.GroupVersion().String()
			if r.Archived == nil {
				r.Archived = map[string][]byte{}
			}
			r.Archived[name] = found.Document
			if !slices.Contains(f.OpenAPI, name) {
				f.OpenAPI = append(f.OpenAPI, name)
			}
			continue
		}
		object, err := value.Parse(found.Definition)
		if err != nil {
			r.Problem(notice.InFile(clusterName), "the definition of %v is no JSON", resource)
			continue
		}
		text := manifest.TextOf(clusterName+"/customresourcedefinition/"+resource.String(), object)
		definitions = append(definitions, r.Objects([]*manifest.Text{text})...)
	}
	return f, definitions
}

func compare(a, b gvkschema.GroupVersionKind) int {
	return slices.Compare([]string{a.Group, a.Version, a.Kind}, []string{b.Group, b.Version, b.Kind})
}
