package server

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/auth/accounts"
	"github.com/deed-project/deed/server/controllers/certificates"
	"github.com/deed-project/deed/server/filters"
	"github.com/deed-project/deed/server/registry/services"
	"github.com/deed-project/deed/server/rest/write"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Config says what a server is to be. The zero Config is a server in memory that serves built-in kinds and
// CustomResourceDefinitions to all clients.
type Config struct {
	// Store holds the objects; nil is memory. The server does not close it.
	Store store.Store
	// Shared tells that other servers use the Store as well. The server follows what they write, so that all of them serve the same
	// definitions and ask the same webhooks.
	Shared bool
	// Objects are created when the server starts, in this order, unless they exist: definitions, and whatever they define. Those with
	// a resource version come from another server, and are kept as they were there, with their status and managed fields.
	Objects []value.Value
	// Now is the clock; nil is that of the system.
	Now func() time.Time
	// Authenticate returns the user of a request; nil takes every client for a member of system:masters.
	Authenticate auth.Authenticator
	// Certificates says which client certificates stand for users, and which clients are front proxies. Both come before Authenticate.
	Certificates auth.Certificates
	// ClusterSigning signs approved requests for certificates, if the controller certificatesigningrequest-signing-controller runs.
	ClusterSigning certificates.Authority
	// Hosts are the names by which clients reach the server over HTTP without TLS, beside localhost and addresses. A request without
	// credentials that names another host is refused: it may come from a web page of that host.
	Hosts []string
	// Authorize tells whether a user may do something; nil allows everything.
	Authorize auth.Authorizer
	// RBAC tells that the stored roles and bindings decide what a user may do, beside Authorize: what either allows is allowed. The server
	// creates the roles and bindings that a cluster begins with, and refuses those that grant more than their writer may do.
	RBAC bool
	// ABAC decides beside Authorize: what either allows is allowed. It is nil without the mode ABAC.
	ABAC *auth.ABAC
	// Nodes switches the authorizer Node on, beside Authorize and RBAC: it allows a kubelet what a kubelet needs. Its user is system:node:NAME of the group
	// system:nodes. The admission plugin NodeRestriction keeps it from writing objects of others.
	Nodes bool
	// PriorityAndFairness tells that the stored FlowSchemas and priority levels decide how many requests are carried out at once, in place of
	// Limits.Reading and Limits.Writing: their sum is divided among the levels. Answers name both objects in headers. The server creates the
	// objects that a cluster begins with, and keeps them.
	PriorityAndFairness bool
	// ServiceAccounts says how tokens of service accounts are signed, and which are accepted. Such a token stands for its account, whatever
	// Authenticate says.
	ServiceAccounts accounts.Config
	// RootCA are the certificates that clients in pods must trust to reach the server, in PEM. Controllers publish them.
	RootCA []byte
	// Admission are plugins that are asked about writes, in this order: after those of the server itself, for the life of namespaces
	// and for what pods get, and before webhooks.
	Admission admission.Chain
	// EnableAdmissionPlugins and DisableAdmissionPlugins switch plugins of kube-apiserver on and off, by their names: see [AdmissionPlugins].
	// Those of [DefaultAdmissionPlugins] are on by themselves.
	EnableAdmissionPlugins, DisableAdmissionPlugins []string
	// PluginConfiguration has the configurations of the plugins PodSecurity and ResourceQuota, by their names: the objects that the file of
	// kube-apiserver's flag --admission-control-config-file has for them, as YAML or JSON. A plugin that has one is on, unless
	// DisableAdmissionPlugins has its name.
	PluginConfiguration map[string][]byte
	// EmulatedVersion is the minor release of Kubernetes whose capabilities the server has, such as 1.36: as kube-apiserver with its flag
	// --emulated-version. Versions of kinds that came later are not served, and fields whose feature gates were off are not stored. It is
	// one of 1.34 to 1.37, as [builtin.FirstEmulated] says; an empty text is 1.37.
	EmulatedVersion string
	// RuntimeConfig switches versions of built-in kinds on and off, as the flag --runtime-config of kube-apiserver: see
	// [builtin.RuntimeConfig] of package catalog/builtin.
	RuntimeConfig map[string]bool
	// Unprivileged refuses privileged containers, as kube-apiserver does without its flag --allow-privileged.
	Unprivileged bool
	// Controllers are the controllers of kube-controller-manager that run, by its names: see [Controllers]. "*" means all, and "-name"
	// excludes one. Nil is [DefaultControllers]; an empty list means none.
	Controllers []string
	// Transient tells that the server answers a batch of requests and then ends, as a validator in a command line does. It does not work ahead:
	// CEL rules of definitions are compiled when a write needs them. The status of definitions is not written.
	Transient bool
	// Services says which addresses and ports services get. By default they get none.
	Services Services
	// Webhooks says how webhooks are asked.
	Webhooks Webhooks
	// Aggregation says how requests are sent on to the API servers that APIServices name.
	Aggregation Aggregation
	// Past bounds the history that the server keeps in the store. Nil means [DefaultPast]. For a shared Store, nil means everything,
	// because the operator of the store compacts it.
	Past *store.Window
	// MaxObject is how large an object may be that is stored, in bytes; 0 is [DefaultMaxObject].
	MaxObject int
	// EventTTL is how long Events are kept after they were last written; 0 is an hour, as in kube-apiserver.
	EventTTL time.Duration
	// Limits are how much the server does at once, and how long a request may take; the zero Limits are [filters.DefaultLimits].
	Limits filters.Limits
	// CBOR tells that bodies and answers may be CBOR, as with the feature gate CBORServingAndStorage of kube-apiserver. The gate is off by
	// default.
	CBOR bool
	// Audit is told what admission noted about a request, once that is answered; nil is told nothing. It is called by many
	// goroutines at once.
	Audit func(audit.Event)
	// AuditLog records requests in the form of kube-apiserver's audit log; nil records none.
	AuditLog *audit.Recorder
	// Flags are what /flagz shows, by name. They must hold no credentials.
	Flags map[string]string
	// Log is told of failures of the server itself; nil is slog.Default. No object, credential or answer of a webhook is in its lines at any
	// level, see package logs.
	Log *slog.Logger
}

// Services says which addresses and ports a server gives services.
type Services struct {
	// ClusterIPRange is the range from which services get an address. The zero Prefix gives none.
	ClusterIPRange netip.Prefix
	// SecondClusterIPRange is a range of the other family, of version 4 or 6, for services that prefer or require two. The zero Prefix means
	// that there is one family.
	SecondClusterIPRange netip.Prefix
	// Families are the families of addresses that services may have if there is no range, IPv4 or IPv6 or both, the default one first. None
	// means IPv4.
	Families []string
	// NodePorts are the ports that services get on nodes; the zero PortRange is [services.DefaultPorts].
	NodePorts services.PortRange
	// Advertise is where clients in the network reach the server: the endpoints of the service kubernetes. The zero AddrPort is nowhere.
	Advertise netip.AddrPort
}

// ranges returns the ranges of addresses, the default one first.
func (c Services) ranges() (all []netip.Prefix) {
	for _, r := range []netip.Prefix{c.ClusterIPRange, c.SecondClusterIPRange} {
		if r.IsValid() {
			all = append(all, r)
		}
	}
	return all
}

// families returns the families of addresses that services may have.
func (c Services) families() []string {
	if ranges := c.ranges(); len(ranges) > 0 {
		return services.Families(ranges)
	}
	return c.Families
}

// Webhooks says how a server calls admission webhooks.
type Webhooks struct {
	// Fixed are configurations that hold beside those that are objects of the API, and are called first.
	Fixed []value.Value
	// Resolve has, by name.namespace, the addresses of services, of the form host:port. Other services are found by their EndpointSlices.
	Resolve map[string]string
	// Credentials is a file in the form of a kubeconfig. Its users, named by host:port or service, are the credentials of the server for
	// webhooks. An empty name is no file.
	Credentials string
}

// Aggregation says how a server sends requests on to other API servers. Their services are resolved as [Webhooks] says.
type Aggregation struct {
	// ProxyCertificate and ProxyKey are the client certificate and its key, in PEM, by which other API servers know that the headers with the
	// user come from this server. Without them it shows no certificate.
	ProxyCertificate, ProxyKey []byte
}

// DefaultPast is the window of the past that a server keeps unless it is told otherwise: five minutes, for which kube-apiserver leaves
// revisions in etcd, and at most half a GiB in memory.
var DefaultPast = store.Window{Age: 5 * time.Minute, Bytes: 512 << 20}

// DefaultMaxObject is how large an object may be by default, as in a kube-apiserver on an etcd with default settings.
const DefaultMaxObject = write.DefaultMaxObject

// eventTTL is how long Events are kept unless the server is told otherwise.
const eventTTL = time.Hour
