package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/helm"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/value"
)

func (c *cli) helmCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "helm",
		Short: "Predict what Helm would do",
		Long: `Predict what Helm would do to the objects of a release. As a plugin of Helm, deed
helm plan is helm deed-plan.`,
		Example: `  # What would helm upgrade --install change, and which conflicts would it meet?
  helm deed-plan web ./chart`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.helmPlanCommand())
	return cmd
}

// helmPlanFlags holds the flags of deed helm plan.
type helmPlanFlags struct {
	planFlags
	template  bool
	variables map[string]string // the flags that are variables of Helm, by the name of the variable
}

// helmVariables are the flags of Helm that choose a cluster and a user, with the names of their variables.
var helmVariables = []struct{ flag, variable, usage string }{
	{"kube-apiserver", "HELM_KUBEAPISERVER", "the `address` of the API server"},
	{"kube-ca-file", "HELM_KUBECAFILE", "the `file` with the certificates of authorities for the API server"},
	{"kube-tls-server-name", "HELM_KUBETLS_SERVER_NAME", "the `name` that the certificate of the API server must have"},
	{"kube-insecure-skip-tls-verify", "HELM_KUBEINSECURE_SKIP_TLS_VERIFY", "`true` takes any certificate of the API server"},
	{"kube-token", "HELM_KUBETOKEN", "the bearer `token`"},
	{"kube-as-user", "HELM_KUBEASUSER", "the `name` of the user to impersonate"},
	{"kube-as-group", helmGroups, "the `names` of groups to impersonate, with commas between them; repeatable"},
}

// registerCluster adds the flags that choose a cluster and a user, as in Helm.
func (f *helmPlanFlags) registerCluster(flags *pflag.FlagSet) {
	flags.StringVar(&f.cluster.Context, "kube-context", "", "the `name` of the context in the kubeconfig")
	flags.StringVar(&f.cluster.Kubeconfig, "kubeconfig", "", "the `file` with contexts")
	f.variables = map[string]string{}
	for _, v := range helmVariables {
		flags.Var(variable{f.variables, v.variable}, v.flag, v.usage)
	}
	flags.Lookup("kube-insecure-skip-tls-verify").NoOptDefVal = "true"
}

// variable is a flag that sets a variable of Helm.
type variable struct {
	all  map[string]string
	name string
}

// helmGroups is the variable whose flag may be repeated.
const helmGroups = "HELM_KUBEASGROUPS"

// Set implements [pflag.Value].
func (v variable) Set(text string) error {
	if before := v.all[v.name]; before != "" && v.name == helmGroups {
		text = before + "," + text
	}
	v.all[v.name] = text
	return nil
}

// String implements [pflag.Value].
func (v variable) String() string { return v.all[v.name] }

// Type implements [pflag.Value].
func (v variable) Type() string { return "string" }

func (c *cli) helmPlanCommand() *cobra.Command {
	var f helmPlanFlags
	cmd := &cobra.Command{
		Use:   "plan RELEASE CHART",
		Short: "Predict what helm upgrade would do to each field, and which conflicts it meets",
		Long: `Predict what helm upgrade --install RELEASE CHART would do to each field of each
object, as deed plan does. Flags that are not below are those of helm upgrade.

Helm renders the chart in a dry run, with the values of the release. Each object
gets the label and the annotations by which Helm knows its own, and is applied
to the object in the cluster, as the manager helm. Hooks are left out: Helm
creates them anew. So are the definitions in a chart, which Helm creates where
they are missing. Objects that the chart no longer has are named, because Helm
deletes them.

Helm updates a release of Helm 3 without server-side apply, and meets no
conflict, unless --server-side=true is given. The plan is that of
--server-side=true: Helm's updates become its applies, and then Helm applies.

Reading a release takes permission to get and list Secrets. --template needs no
such permission: Helm renders the chart as helm template does. Flags that are
not below are then those of helm template, such as --is-upgrade.`,
		Example: `  # What would an upgrade change, and which conflicts would it meet?
  deed helm plan web ./chart -n shop --set replicas=3

  # As a plugin of Helm: only what is in conflict or changes
  helm deed-plan web ./chart -f values.yaml --only conflicting,changed

  # For a user who may not read the release
  helm deed-plan web ./chart --template --is-upgrade -f values.yaml`,
		DisableFlagParsing: true,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		rest, err := ownFlags(cmd, args)
		if err != nil {
			return err
		}
		if help, err := cmd.Flags().GetBool("help"); err == nil && help {
			return cmd.Help()
		}
		return c.helmPlan(f, rest)
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.template, "template", false, "render as helm template does, without the release")
	flags.Var(list{&f.live}, "live",
		"`file` or directory with the objects as they are stored, with managedFields, in place of those of the cluster; repeatable")
	f.registerCluster(flags)
	flags.StringVarP(&f.namespace, "namespace", "n", "", "the `name` of the namespace of the release")
	flags.StringVar(&f.manager, "field-manager", "", "the `name` of the manager that writes; without it, helm, as for Helm itself")
	flags.BoolVar(&f.bare, "no-defaults", false, "leave out the changes that a server makes beside merging: default values and normal forms")
	flags.DurationVar(&f.input.timeout, "request-timeout", manifest.DefaultTimeout, "how long a request to the cluster may take; 0 means no limit")
	flags.IntVar(&f.input.jobs, "jobs", 0, "work on `n` objects at a time; 0 means one for each processor")
	f.how.registerForce(flags)
	f.how.noMigration = true // that is kubectl's
	f.registerOutput(flags)
	registerSchemas(flags, &f.schemas)
	return cmd
}

// ownFlags parses the flags in args that cmd has, and returns the other arguments. Flags that cmd does not have belong to another program.
func ownFlags(cmd *cobra.Command, args []string) (rest []string, err error) {
	cmd.InitDefaultHelpFlag()
	cmd.InheritedFlags() // adds them to cmd.Flags
	var own []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		f, hasValue := flagOf(cmd.Flags(), arg)
		if f == nil {
			rest = append(rest, arg)
			continue
		}
		if own = append(own, arg); !hasValue && f.NoOptDefVal == "" && i+1 < len(args) {
			i++
			own = append(own, args[i])
		}
	}
	return rest, cmd.Flags().Parse(own)
}

// flagOf returns the flag of flags that arg sets, or nil, and whether arg has its value, too.
func flagOf(flags *pflag.FlagSet, arg string) (f *pflag.Flag, hasValue bool) {
	if long, ok := strings.CutPrefix(arg, "--"); ok {
		name, _, hasValue := strings.Cut(long, "=")
		return flags.Lookup(name), hasValue
	}
	if len(arg) < 2 || arg[0] != '-' {
		return nil, false
	}
	return flags.ShorthandLookup(arg[1:2]), len(arg) > 2
}

// releaseName is the name of the file for messages about the objects of a release.
func releaseName(release string) string { return "release/" + release }

// withoutApply returns the flag in args by which Helm writes objects in another way than by server-side apply, or "".
func withoutApply(args []string) (found string) {
	for i, arg := range args {
		name, text, hasValue := strings.Cut(arg, "=")
		switch name {
		case "--force-replace", "--force":
			if isSet, err := strconv.ParseBool(text); !hasValue || err == nil && isSet {
				found = arg
			}
		case "--server-side":
			if !hasValue && i+1 < len(args) {
				text = args[i+1]
			}
			if text == "false" {
				found = name + "=" + text
			}
		}
	}
	return found
}

// helmPlan runs deed helm plan. args are those that it hands to Helm.
func (c *cli) helmPlan(f helmPlanFlags, args []string) error {
	if len(args) < 2 || strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[1], "-") {
		return errors.New("name the release and the chart in front of other arguments")
	}
	if flag := withoutApply(args); flag != "" {
		return fmt.Errorf("with %s, Helm applies nothing", flag)
	}
	h := helm.Helm{Program: cmp.Or(os.Getenv("HELM_BIN"), "helm"), Err: c.Log}
	for _, v := range []struct{ name, value string }{
		{"HELM_NAMESPACE", f.namespace}, {"HELM_KUBECONTEXT", f.cluster.Context}, {"KUBECONFIG", f.cluster.Kubeconfig},
	} {
		if v.value != "" {
			h.Env = append(h.Env, v.name+"="+v.value)
		}
	}
	f.manager = cmp.Or(f.manager, helm.Manager)
	for _, v := range helmVariables {
		if text, ok := f.variables[v.variable]; ok {
			h.Env = append(h.Env, v.variable+"="+text)
		}
	}
	lookup := func(name string) string { return cmp.Or(f.variables[name], os.Getenv(name)) }
	if f.cluster = (clusterFlags{f.cluster.FromHelm(lookup)}); len(f.live) > 0 {
		f.cluster = clusterFlags{} // its flags are for Helm
	} else {
		f.live = []string{clusterName}
	}
	release, old, err := c.helmRelease(h, &f, args)
	if err != nil {
		c.Problem(notice.InFile(releaseName(args[0])), "%s", secret.Open.Error(err))
		return nil
	}
	f.namespace = cmp.Or(f.namespace, release.Namespace)
	c.Archived = map[string][]byte{releaseName(release.Name): []byte(release.Manifest)}
	if strings.TrimSpace(release.Definitions) != "" {
		name := releaseName(release.Name) + "/crds"
		c.Archived[name] = []byte(release.Definitions)
		f.schemas.Crds = append(f.schemas.Crds, name)
	}
	if err := c.helmDeletes(f, release, old); err != nil {
		return err
	}
	f.input.files = []string{releaseName(release.Name)}
	f.mark = func(o *manifest.Object) *manifest.Object { return markHelm(o, release) }
	return c.plan(f.planFlags)
}

// helmRelease returns what Helm applies, and what it has applied before: the zero Release if there is nothing or it is not read.
func (c *cli) helmRelease(h helm.Helm, f *helmPlanFlags, args []string) (release, old helm.Release, err error) {
	where := notice.InFile(releaseName(args[0]))
	if f.template {
		f.how.upgrade = true
		release, err = h.Template(args)
		return release, old, err
	}
	if old, err = h.Deployed(args[0]); err != nil {
		return release, old, fmt.Errorf("%w: for a user who may not list Secrets, --template does without the release", err)
	}
	if release, err = h.Upgrade(args); err != nil {
		return release, old, err
	}
	if release.ApplyMethod != helm.ServerSide {
		c.Warn(where, "Helm writes this release without server-side apply, and meets no conflict: the plan is that of --server-side=true")
	}
	f.how.upgrade = old.ApplyMethod != helm.ServerSide // or if there is no release: Helm takes over its own objects then, too
	return release, old, nil
}

// helmDeletes names the objects of old that release does not have, which Helm deletes. Helm keeps a stored object with an annotation that
// says so, in exactly this spelling. For an object that --live does not have, the annotation of old counts.
func (c *cli) helmDeletes(f helmPlanFlags, release, old helm.Release) error {
	quiet := c.quiet()
	objects := func(text string) []*manifest.Object {
		quiet.Archived = map[string][]byte{"release": []byte(text)}
		return quiet.Objects(quiet.Read([]string{"release"}, false))
	}
	id := func(o *manifest.Object) manifest.ID {
		return o.WithNamespace(cmp.Or(o.Id.Namespace, release.Namespace)).Id
	}
	kept := map[manifest.ID]bool{}
	for _, o := range objects(release.Manifest) {
		kept[id(o)] = true
	}
	gone := slices.DeleteFunc(objects(old.Manifest), func(o *manifest.Object) bool { return kept[id(o)] })
	stored, err := c.helmStored(f, gone)
	if err != nil {
		return err
	}
	for i, o := range gone {
		if stored[i] != nil && stored[i].Content.Get("metadata", "annotations", "helm.sh/resource-policy").Str() != "keep" {
			c.Warn(notice.InFile(releaseName(release.Name)), "%v is not in the chart any more: Helm deletes it", o.Id)
		}
	}
	return nil
}

// helmStored returns what is stored for each object of a release. It is nil if the cluster has no such object, and the object itself if
// that is not known.
func (c *cli) helmStored(f helmPlanFlags, all []*manifest.Object) ([]*manifest.Object, error) {
	stored := slices.Clone(all)
	if len(all) == 0 {
		return stored, nil
	}
	quiet := c.quiet()
	quiet.Archived = nil
	if !slices.Contains(f.live, clusterName) {
		live := quiet.Index(quiet.Read(f.live, false), manifest.Everything)
		for i, o := range all {
			if s, err := live.Find(o.WithNamespace(cmp.Or(o.Id.Namespace, f.namespace)).Id); err == nil && s != nil {
				stored[i] = cmp.Or(s.Read(quiet.Loader), o)
			}
		}
		return stored, nil
	}
	k, err := f.cluster.open(c, f.input, f.namespace)
	if err != nil {
		return nil, err
	}
	references := make([]reference, len(all))
	for i, o := range all {
		references[i] = reference{gvkschema.GroupVersionKind(o.GVK()), o.Id.Namespace, o.Id.Name, o}
	}
	i := 0
	for _, a := range k.fetch(references) {
		if a.err == nil {
			stored[i] = nil
			if a.text != nil {
				text, err := k.parsed(a)
				if err != nil {
					return nil, err
				}
				if found := quiet.Objects([]*manifest.Text{text}); len(found) == 1 {
					stored[i] = found[0]
				}
			}
		}
		i++
	}
	return stored, nil
}

// markHelm returns o with the label and the annotations by which Helm knows the objects of a release.
func markHelm(o *manifest.Object, r helm.Release) *manifest.Object {
	metadata := o.Content.Get("metadata")
	add := func(member, name, text string) {
		all := metadata.Get(member)
		if all.Kind() != value.KindObject {
			all = value.Object()
		}
		metadata = metadata.With(member, all.With(name, value.String(text)))
	}
	add("labels", "app.kubernetes.io/managed-by", "Helm")
	add("annotations", "meta.helm.sh/release-name", r.Name)
	add("annotations", "meta.helm.sh/release-namespace", r.Namespace)
	out := *o
	out.Content = o.Content.With("metadata", metadata)
	return &out
}
