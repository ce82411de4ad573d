package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/admission/policy/typecheck"
	"github.com/deed-project/deed/server/admission/quota"
	"github.com/deed-project/deed/server/controllers/certificates"
	"github.com/deed-project/deed/server/controllers/garbage"
	"github.com/deed-project/deed/server/controllers/serviceaccounts"
)

// controller is a part of a control plane that works beside requests, and that [Config.Controllers] switches on.
type controller struct {
	name    string   // as kube-controller-manager names it
	aliases []string // its older names there
	// start is called once all resources are served and the first objects exist. Nil means that another part reads [Server.runs].
	start func(s *Server, ctx context.Context) error
}

// controllerTable lists the controllers, by name.
var controllerTable = []controller{
	{"certificatesigningrequest-signing-controller", []string{"csrsigning"}, (*Server).startSigner},
	{"garbage-collector-controller", []string{"garbagecollector", "gc"}, (*Server).startGarbageCollector},
	{namespaceController, []string{"namespace"}, nil},
	{"resourcequota-controller", []string{"resourcequota"}, (*Server).startQuotas},
	{"root-ca-certificate-publisher-controller", []string{"root-ca-cert-publisher"}, (*Server).startRootCA},
	{"serviceaccount-controller", []string{"serviceaccount"}, (*Server).startAccounts},
	{"serviceaccount-token-controller", []string{"serviceaccount-token"}, (*Server).startTokens},
	{"validatingadmissionpolicy-status-controller", nil, (*Server).startTypeChecks},
}

// namespaceController empties namespaces that are being deleted.
const namespaceController = "namespace-controller"

// Controllers returns the names of the controllers that a configuration may switch on.
func Controllers() []string {
	var names []string
	for _, c := range controllerTable {
		names = append(names, c.name)
	}
	return names
}

// DefaultControllers are the controllers of a server whose configuration says nothing of them.
var DefaultControllers = []string{namespaceController}

// chosenControllers returns the controllers that a list switches on, by name. The error is that it has an unknown name.
//
// The first mention of a controller counts, and a star stands for all that are not mentioned.
func chosenControllers(list []string) (map[string]bool, error) {
	if list == nil {
		list = DefaultControllers
	}
	chosen := map[string]bool{}
	for _, item := range list {
		name, isExcluded := strings.CutPrefix(item, "-")
		i := slices.IndexFunc(controllerTable, func(c controller) bool { return c.name == name || slices.Contains(c.aliases, name) })
		if i < 0 && item != "*" {
			return nil, fmt.Errorf("%q is not in the list of known controllers: %s", name, strings.Join(Controllers(), ", "))
		}
		if item == "*" {
			continue
		}
		if _, mentioned := chosen[controllerTable[i].name]; !mentioned {
			chosen[controllerTable[i].name] = !isExcluded
		}
	}
	for _, c := range controllerTable {
		if _, mentioned := chosen[c.name]; !mentioned {
			chosen[c.name] = slices.Contains(list, "*")
		}
	}
	return chosen, nil
}

// startControllers starts the controllers that the configuration switches on.
func (s *Server) startControllers(ctx context.Context) error {
	for _, c := range controllerTable {
		if c.start == nil || !s.runs[c.name] {
			continue
		}
		if err := c.start(s, ctx); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// startGarbageCollector starts to delete objects whose owners are gone.
func (s *Server) startGarbageCollector(context.Context) error {
	collector := &garbage.Collector{Store: s.reader.Store, Catalog: s.catalog, Client: s.client, Now: s.now, Report: s.background.Report}
	collector.Remotes = s.remoteResources
	s.background.Go(collector.Run)
	return nil
}

// remoteResources returns the resources of other API servers whose objects can be collected.
func (s *Server) remoteResources() (out []garbage.Remote) {
	all, _ := s.aggregator.Resources("delete", "list", "watch")
	for _, r := range all {
		gvk := schema.GVK{Group: r.Group, Version: r.Version, Kind: r.Kind}
		out = append(out, garbage.Remote{GVK: gvk, Collection: r.Path(""), Namespaced: r.Namespaced})
	}
	return out
}

// remoteCollections returns the paths of what other API servers have in a namespace and can delete, in one version of each resource. unknown are
// the group versions whose resources are unknown.
func (s *Server) remoteCollections(namespace string) (paths map[kschema.GroupVersionResource]string, unknown []string) {
	all, unknown := s.aggregator.Resources("deletecollection", "list")
	paths = map[kschema.GroupVersionResource]string{}
	known := map[kschema.GroupResource]bool{}
	for _, r := range all {
		if r.Namespaced && !known[r.GroupResource] {
			known[r.GroupResource] = true
			paths[r.WithVersion(r.Version)] = r.Path(namespace)
		}
	}
	return paths, unknown
}

// startQuotas starts to keep the status of ResourceQuotas.
func (s *Server) startQuotas(context.Context) error {
	c := &quota.Controller{Store: s.reader.Store, Catalog: s.catalog, Client: s.client, Now: s.now, Report: s.background.Report}
	s.background.Go(c.Run)
	return nil
}

// startSigner starts to sign requests for certificates, if there is an authority.
func (s *Server) startSigner(context.Context) error {
	if s.authority.Certificate == nil || s.authority.Key == nil {
		return nil
	}
	requests := s.catalog().Lookup("certificates.k8s.io", "certificatesigningrequests")
	signer := certificates.Signer{
		Authority: s.authority, Requests: requests, Store: s.reader.Store, Client: s.client, Now: s.now, Report: s.background.Report,
	}
	s.background.Go(signer.Run)
	return nil
}

// accountsHost returns what the controllers for service accounts need.
func (s *Server) accountsHost() serviceaccounts.Host {
	return serviceaccounts.Host{Store: s.reader.Store, Catalog: s.catalog, Client: s.client, Report: s.background.Report}
}

// startAccounts starts to keep the service account of each namespace.
func (s *Server) startAccounts(context.Context) error {
	s.background.Go(serviceaccounts.Accounts{Host: s.accountsHost()}.Run)
	return nil
}

// startRootCA starts to publish what clients must trust.
func (s *Server) startRootCA(context.Context) error {
	s.background.Go(serviceaccounts.RootCA{Host: s.accountsHost(), Certificates: s.rootCA}.Run)
	return nil
}

// startTokens starts to fill in Secrets with tokens.
func (s *Server) startTokens(context.Context) error {
	s.background.Go(serviceaccounts.Tokens{Host: s.accountsHost(), Certificates: s.rootCA, Authority: s.accounts}.Run)
	return nil
}

// startTypeChecks starts to check the types in expressions of policies.
func (s *Server) startTypeChecks(context.Context) error {
	c := &typecheck.Controller{Store: s.reader.Store, Catalog: s.catalog, Client: s.client, Report: s.background.Report}
	s.background.Go(c.Run)
	return nil
}
