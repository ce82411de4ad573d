package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/plugins"
	"github.com/deed-project/deed/server/admission/podsecurity"
	"github.com/deed-project/deed/server/admission/quota"
	"github.com/deed-project/deed/server/auth/writes"
	"github.com/deed-project/deed/server/registry/namespaces"
	"github.com/deed-project/deed/server/registry/nodes"
	"github.com/deed-project/deed/server/registry/pods"
	"github.com/deed-project/deed/server/registry/unenforced"
	"github.com/deed-project/deed/server/registry/volumes"
	"github.com/deed-project/deed/server/registry/webhooks"
	"github.com/deed-project/deed/server/store"
)

// plugin is an admission plugin of kube-apiserver, by its name there.
type plugin struct {
	name    string
	isOn    bool // unless the configuration says otherwise
	plugins func(*Server, store.Store) admission.Chain
}

// pluginTable lists the plugins that a configuration switches on and off, in the order of kube-apiserver's chain.
var pluginTable = []plugin{
	{"NamespaceLifecycle", true, mutates(func(s store.Store) change { return namespaces.Lifecycle{Store: s}.Admit })},
	{"LimitRanger", false, both(func(s store.Store) (change, change) { p := plugins.Ranges{Store: s}; return p.Mutate, p.Validate })},
	{"ServiceAccount", false, both(func(s store.Store) (change, change) { p := plugins.Accounts{Store: s}; return p.Mutate, p.Validate })},
	{"NodeRestriction", false, func(s *Server, objects store.Store) admission.Chain {
		return admission.Chain{admission.Mutate(plugins.Nodes{Store: objects, Allows: s.authorize}.Admit)}
	}},
	{"TaintNodesByCondition", true, mutates(func(store.Store) change { return nodes.Taint })},
	{"PodSecurity", false, func(s *Server, objects store.Store) admission.Chain {
		p := &podsecurity.Plugin{Store: objects, Recorder: s.metrics.PodSecurity(s.release.minor()), Minor: s.release.minor(), Configuration: s.pluginConfig.podSecurity}
		return admission.Chain{admission.Validate(p.Validate)}
	}},
	{"Priority", true, both(func(s store.Store) (change, change) { p := pods.Priority{Store: s}; return p.Admit, p.Validate })},
	{"DefaultTolerationSeconds", true, mutates(func(store.Store) change { return pods.Tolerate })},
	{"DefaultStorageClass", false, mutates(func(s store.Store) change { return plugins.StorageClasses{Store: s}.Default })},
	{"StorageObjectInUseProtection", true, mutates(func(store.Store) change { return volumes.Protect })},
	{"PersistentVolumeClaimResize", false, validates(func(s store.Store) change { return plugins.StorageClasses{Store: s}.Resize })},
	{"RuntimeClass", false, both(func(s store.Store) (change, change) {
		p := plugins.RuntimeClasses{Store: s}
		return p.Mutate, p.Validate
	})},
	{"CertificateApproval", true, asksSigners(writes.Signers.Approve)},
	{"CertificateSigning", true, asksSigners(writes.Signers.Sign)},
	{"ClusterTrustBundleAttest", true, asksSigners(writes.Signers.Attest)},
	{"CertificateSubjectRestriction", false, validates(func(store.Store) change { return plugins.RestrictSubjects })},
	{"DefaultIngressClass", false, mutates(func(s store.Store) change { return plugins.IngressClasses{Store: s}.Default })},
	{"PodTopologyLabels", true, func(s *Server, objects store.Store) admission.Chain {
		if s.release.minor() < topologySince {
			return nil
		}
		return admission.Chain{admission.Mutate(plugins.Topology{Store: objects}.Mutate)}
	}},
	{"NodeDeclaredFeatureValidator", true, func(s *Server, objects store.Store) admission.Chain {
		if s.release.minor() < nodeFeaturesSince {
			return nil
		}
		return admission.Chain{admission.Validate(plugins.NodeFeatures{Store: objects}.Validate)}
	}},
	{"PodResizeValidator", true, validates(func(s store.Store) change { return plugins.Resizes{Store: s}.Validate })},
	{"MutatingAdmissionPolicy", true, func(s *Server, _ store.Store) admission.Chain {
		return admission.Chain{admission.Mutate(s.policies.Plugin.Mutate)}
	}},
	{"ValidatingAdmissionPolicy", true, func(s *Server, _ store.Store) admission.Chain {
		return admission.Chain{admission.Validate(s.policies.Plugin.Validate)}
	}},
}

// topologySince and nodeFeaturesSince are the minor releases in which the gates of PodTopologyLabels and NodeDeclaredFeatureValidator became on by
// default.
const (
	topologySince     = 35
	nodeFeaturesSince = 36
)

// lastPlugins lists the plugins of the table that follow webhooks.
var lastPlugins = []plugin{
	{"ResourceQuota", false, func(s *Server, objects store.Store) admission.Chain {
		return admission.Chain{admission.Validate((&quota.Plugin{Store: objects, Client: s.client, Now: s.now, Limited: s.pluginConfig.limited}).Validate)}
	}},
}

// otherPlugins are plugins of kube-apiserver that this server lacks, or that other parts of it replace. They may be switched off.
var otherPlugins = []string{
	"AlwaysAdmit", "AlwaysDeny", "AlwaysPullImages", "DenyServiceExternalIPs", "EventRateLimit", "ExtendedResourceToleration", "ImagePolicyWebhook", "LimitPodHardAntiAffinityTopology",
	"MutatingAdmissionWebhook", "NamespaceAutoProvision", "NamespaceExists",
	"OwnerReferencesPermissionEnforcement", "PodGroupProtection", "PodNodeSelector",
	"PodTolerationRestriction", "ValidatingAdmissionWebhook",
}

// change is what a plugin does with a request in one of its phases.
type change = func(context.Context, *admission.Request) error

// mutates, validates and both make plugins of their phases.
func mutates(of func(store.Store) change) func(*Server, store.Store) admission.Chain {
	return func(_ *Server, s store.Store) admission.Chain { return admission.Chain{admission.Mutate(of(s))} }
}

func validates(of func(store.Store) change) func(*Server, store.Store) admission.Chain {
	return func(_ *Server, s store.Store) admission.Chain { return admission.Chain{admission.Validate(of(s))} }
}

func both(of func(store.Store) (change, change)) func(*Server, store.Store) admission.Chain {
	return func(_ *Server, s store.Store) admission.Chain {
		mutate, validate := of(s)
		return admission.Chain{admission.Mutate(mutate), admission.Validate(validate)}
	}
}

// asksSigners makes a plugin of a check of the permissions for signers.
func asksSigners(check func(writes.Signers, context.Context, *admission.Request) error) func(*Server, store.Store) admission.Chain {
	return func(s *Server, _ store.Store) admission.Chain {
		return admission.Chain{admission.Validate(func(ctx context.Context, r *admission.Request) error {
			return check(writes.Signers{Allows: s.access.Allows}, ctx, r)
		})}
	}
}

// AdmissionPlugins returns the names of the admission plugins that a configuration may switch on, in the order of the chain.
func AdmissionPlugins() []string {
	var names []string
	for _, p := range slices.Concat(pluginTable, lastPlugins) {
		names = append(names, p.name)
	}
	return names
}

// DefaultAdmissionPlugins returns the names of the admission plugins that are on unless a configuration says otherwise.
func DefaultAdmissionPlugins() []string {
	var names []string
	for _, p := range pluginTable {
		if p.isOn {
			names = append(names, p.name)
		}
	}
	return names
}

// chosenPlugins returns the admission plugins that are on, in the order of kube-apiserver's chain: those before webhooks, and those after
// them.
func chosenPlugins(enable, disable []string) (first, last []plugin, err error) {
	var errs []error
	var overlap []string
	for _, name := range enable {
		if !slices.Contains(AdmissionPlugins(), name) {
			errs = append(errs, fmt.Errorf("enable-admission-plugins plugin %q is unknown", name))
		}
		if slices.Contains(disable, name) {
			overlap = append(overlap, name)
		}
	}
	for _, name := range disable {
		if !slices.Contains(AdmissionPlugins(), name) && !slices.Contains(otherPlugins, name) {
			errs = append(errs, fmt.Errorf("disable-admission-plugins plugin %q is unknown", name))
		}
	}
	if len(overlap) > 0 {
		slices.Sort(overlap)
		errs = append(errs, fmt.Errorf("%v in enable-admission-plugins and disable-admission-plugins overlapped", overlap))
	}
	chosen := func(table []plugin) (out []plugin) {
		for _, p := range table {
			if (p.isOn || slices.Contains(enable, p.name)) && !slices.Contains(disable, p.name) {
				out = append(out, p)
			}
		}
		return out
	}
	return chosen(pluginTable), chosen(lastPlugins), errors.Join(errs...)
}

// chain returns the admission plugins: those of the server itself that are on, with warnings of objects that have no effect, those of the
// configuration, webhooks, and quotas.
func (s *Server) chain(c Config, objects store.Store, hooks admission.Plugin) (admission.Chain, error) {
	config, err := readPluginConfig(c.PluginConfiguration)
	if err != nil {
		return nil, err
	}
	s.pluginConfig = config
	first, last, err := chosenPlugins(enabledPlugins(c), c.DisableAdmissionPlugins)
	var names []string
	chain := func(of []plugin) (out admission.Chain) {
		for _, p := range of {
			out, names = append(out, p.plugins(s, objects)...), append(names, p.name)
		}
		return out
	}
	before, after := chain(first), chain(last)
	s.unenforced = unenforced.Without(names...)
	own := admission.Chain{admission.Validate(webhooks.Advise(s.release.minor())), admission.Validate(s.unenforced.Warn)}
	return slices.Concat(before, own, c.Admission, admission.Chain{hooks}, after), err
}

// Unenforced returns the names of the kinds that the server stores without effect, in the plural.
func (s *Server) Unenforced() []string { return s.unenforced.Names() }
