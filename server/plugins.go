package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/plugins"
	"github.com/deed-project/deed/server/admission/podsecurity"
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
	plugins func(store.Store) admission.Chain
}

// pluginTable lists the plugins that a configuration switches on and off, in the order of kube-apiserver's chain.
var pluginTable = []plugin{
	{"NamespaceLifecycle", true, mutates(func(s store.Store) change { return namespaces.Lifecycle{Store: s}.Admit })},
	{"LimitRanger", false, both(func(s store.Store) (change, change) { p := plugins.Ranges{Store: s}; return p.Mutate, p.Validate })},
	{"ServiceAccount", false, both(func(s store.Store) (change, change) { p := plugins.Accounts{Store: s}; return p.Mutate, p.Validate })},
	{"TaintNodesByCondition", true, mutates(func(store.Store) change { return nodes.Taint })},
	{"PodSecurity", false, validates(func(s store.Store) change { return (&podsecurity.Plugin{Store: s}).Validate })},
	{"Priority", true, mutates(func(s store.Store) change { return pods.Priority{Store: s}.Admit })},
	{"DefaultTolerationSeconds", true, mutates(func(store.Store) change { return pods.Tolerate })},
	{"DefaultStorageClass", false, mutates(func(s store.Store) change { return plugins.StorageClasses{Store: s}.Default })},
	{"StorageObjectInUseProtection", true, mutates(func(store.Store) change { return volumes.Protect })},
	{"PersistentVolumeClaimResize", false, validates(func(s store.Store) change { return plugins.StorageClasses{Store: s}.Resize })},
	{"RuntimeClass", false, both(func(s store.Store) (change, change) {
		p := plugins.RuntimeClasses{Store: s}
		return p.Mutate, p.Validate
	})},
	{"CertificateSubjectRestriction", false, validates(func(store.Store) change { return plugins.RestrictSubjects })},
	{"DefaultIngressClass", false, mutates(func(s store.Store) change { return plugins.IngressClasses{Store: s}.Default })},
}

// otherPlugins are plugins of kube-apiserver that this server lacks, or that other parts of it replace. They may be switched off.
var otherPlugins = []string{
	"AlwaysAdmit", "AlwaysDeny", "AlwaysPullImages", "CertificateApproval", "CertificateSigning", "ClusterTrustBundleAttest",
	"DenyServiceExternalIPs", "EventRateLimit", "ExtendedResourceToleration", "ImagePolicyWebhook", "LimitPodHardAntiAffinityTopology",
	"MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "NamespaceAutoProvision", "NamespaceExists", "NodeDeclaredFeatureValidator",
	"NodeRestriction", "OwnerReferencesPermissionEnforcement", "PodGroupProtection", "PodNodeSelector", "PodResizeValidator",
	"PodTolerationRestriction", "PodTopologyLabels", "ResourceQuota", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
}

// change is what a plugin does with a request in one of its phases.
type change = func(context.Context, *admission.Request) error

// mutates, validates and both make plugins of their phases.
func mutates(of func(store.Store) change) func(store.Store) admission.Chain {
	return func(s store.Store) admission.Chain { return admission.Chain{admission.Mutate(of(s))} }
}

func validates(of func(store.Store) change) func(store.Store) admission.Chain {
	return func(s store.Store) admission.Chain { return admission.Chain{admission.Validate(of(s))} }
}

func both(of func(store.Store) (change, change)) func(store.Store) admission.Chain {
	return func(s store.Store) admission.Chain {
		mutate, validate := of(s)
		return admission.Chain{admission.Mutate(mutate), admission.Validate(validate)}
	}
}

// AdmissionPlugins returns the names of the admission plugins that a configuration may switch on, in the order of the chain.
func AdmissionPlugins() []string {
	var names []string
	for _, p := range pluginTable {
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

// chosenPlugins returns the admission plugins that are on, in the order of kube-apiserver's chain.
func chosenPlugins(enable, disable []string) ([]plugin, error) {
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
	var chosen []plugin
	for _, p := range pluginTable {
		if (p.isOn || slices.Contains(enable, p.name)) && !slices.Contains(disable, p.name) {
			chosen = append(chosen, p)
		}
	}
	return chosen, errors.Join(errs...)
}

// ownPlugins returns the admission plugins of the server itself: those that are on, and warnings of objects that have no effect.
func (s *Server) ownPlugins(c Config, objects store.Store) (admission.Chain, error) {
	chosen, err := chosenPlugins(c.EnableAdmissionPlugins, c.DisableAdmissionPlugins)
	var chain admission.Chain
	var names []string
	for _, p := range chosen {
		chain, names = append(chain, p.plugins(objects)...), append(names, p.name)
	}
	s.unenforced = unenforced.Without(names...)
	return append(chain, admission.Validate(webhooks.Advise), admission.Validate(s.unenforced.Warn)), err
}

// Unenforced returns the names of the kinds that the server stores without effect, in the plural.
func (s *Server) Unenforced() []string { return s.unenforced.Names() }
