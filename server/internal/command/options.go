package command

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/filters"
	"github.com/deed-project/deed/server/registry/services"
)

// options are the flags of the command.
type options struct {
	listen          string
	bindAddress     string
	securePort      uint16
	crds, load      []string
	data            string
	etcd            etcdOptions
	eventTTL        time.Duration
	maxObject       int
	kubeconfig      string
	merge           bool
	tokenFile       string
	clientCA        string
	proxies         proxyOptions
	accounts        accountOptions
	signing         signingOptions
	tls             tlsOptions
	audit           auditOptions
	anonymous       bool
	authenticators  string   // file that says more about authentication
	issuers         int      // number of issuers of tokens in authenticators, which have no effect
	anonymousPaths  []string // the only paths of requests without credentials, if anonymous is false
	privileged      bool
	runtimeConfig   []string
	authorization   string
	modes           []string // of --authorization-mode
	authorizers     string   // file that names the modes
	policyFile      string   // of the mode ABAC
	fairness        bool
	limits          filters.Limits
	cbor            bool
	admission       []string
	controllers     []string
	enable, disable []string // admission plugins
	pluginFile      string   // their configuration
	emulated        []string // of --emulated-version
	clusterIPs      string
	nodePorts       string
	advertise       string
	resolve         []string
	webhookUsers    string
	logFormat       string
	verbose         bool
	flags           *pflag.FlagSet
	ready           func(Place)     // is told where the server listens; nil is told nothing
	host            string          // of listen
	lost            <-chan struct{} // is closed when the data file is gone; nil without one
}

// addTo defines the flags in f.
func (o *options) addTo(f *pflag.FlagSet) {
	o.flags, f.SortFlags = f, false
	f.SetNormalizeFunc(presentName)
	f.StringVar(&o.listen, "listen", "127.0.0.1:6443", "address to listen on; port 0 takes a free one")
	f.StringVar(&o.bindAddress, "bind-address", "127.0.0.1", "host of that address, in the place of --listen")
	f.Uint16Var(&o.securePort, "secure-port", 6443, "port of that address, in the place of --listen")
	f.StringArrayVar(&o.crds, "crd", nil, "file or folder of CustomResourceDefinitions to serve, whatever else is in there; may be repeated")
	f.StringArrayVar(&o.load, "load", nil, "file or folder of objects to start with; may be repeated")
	f.StringVar(&o.data, "data", "", "file that keeps the objects; without one they are kept in memory")
	o.etcd.addTo(f)
	f.DurationVar(&o.eventTTL, "event-ttl", time.Hour, "how long Events are kept")
	f.IntVar(&o.maxObject, "max-object-bytes", server.DefaultMaxObject, "how many bytes a stored object may have, as --max-request-bytes of etcd")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "file to write that tells clients how to reach the server")
	f.BoolVar(&o.merge, "merge", false, "keep what the kubeconfig file already has")
	f.StringVar(&o.tokenFile, "token-auth-file", "", "bearer tokens that are accepted, as lines of token,user,uid,\"group,…\"")
	f.StringVar(&o.clientCA, "client-ca-file", "", "PEM file with the authorities of client certificates that are accepted")
	o.proxies.addTo(f)
	o.accounts.addTo(f)
	o.signing.addTo(f)
	o.tls.addTo(f)
	f.StringVar(&o.authorization, "authorization", "allow", "authorization: allow, deny-anonymous, or a policy file")
	f.StringSliceVar(&o.modes, "authorization-mode", nil,
		"authorizers in the place of --authorization: AlwaysAllow, which needs credentials, AlwaysDeny, RBAC, ABAC, and Node for kubelets")
	f.StringVar(&o.authorizers, "authorization-config", "", "AuthorizationConfiguration with the authorizers, in the place of --authorization-mode; none may be a webhook")
	f.BoolVar(&o.anonymous, "anonymous-auth", true, "take requests without credentials as those of system:anonymous; AlwaysAllow refuses them in any case")
	f.StringVar(&o.authenticators, "authentication-config", "", "AuthenticationConfiguration whose anonymous part says which requests need no credentials; issuers of tokens in it have no effect")
	f.StringVar(&o.policyFile, "authorization-policy-file", "", "policies of the authorization mode ABAC, one JSON object a line")
	f.BoolVar(&o.fairness, "enable-priority-and-fairness", false,
		"limit requests in flight by FlowSchemas and priority levels, and name those of a request in its answer")
	f.IntVar(&o.limits.Reading, "max-requests-inflight", filters.DefaultLimits.Reading,
		"reads in flight that are no watches; more get a 429, and 0 is no limit")
	f.IntVar(&o.limits.Writing, "max-mutating-requests-inflight", filters.DefaultLimits.Writing,
		"writes in flight; with priority and fairness, all levels share the sum of both numbers")
	f.BoolVar(&o.cbor, "cbor", false, "let bodies and answers be CBOR, which kube-apiserver does behind a feature gate")
	f.StringArrayVar(&o.admission, "admission", nil,
		"file or folder of webhook configurations that hold beside those of the API; may be repeated")
	f.StringSliceVar(&o.controllers, "controllers", server.DefaultControllers,
		"controllers of kube-controller-manager to run: "+strings.Join(server.Controllers(), ", ")+"; * is all of them, and -NAME excludes one")
	f.BoolVar(&o.privileged, "allow-privileged", true, "allow privileged containers")
	f.StringSliceVar(&o.enable, "enable-admission-plugins", nil, "admission plugins of kube-apiserver to switch on, of "+
		strings.Join(server.AdmissionPlugins(), ", ")+"; on by default are "+strings.Join(server.DefaultAdmissionPlugins(), ", "))
	f.StringSliceVar(&o.disable, "disable-admission-plugins", nil, "admission plugins of kube-apiserver to switch off")
	f.StringVar(&o.pluginFile, "admission-control-config-file", "", "AdmissionConfiguration with the configurations of the plugins PodSecurity and ResourceQuota, "+
		"and of webhooks")
	f.StringSliceVar(&o.emulated, "emulated-version", nil, "minor release of Kubernetes whose capabilities the server has, from 1.34 to 1.37, "+
		"as 1.36 or kube=1.36")
	f.StringSliceVar(&o.runtimeConfig, "runtime-config", nil, "versions of built-in kinds to serve or not, such as resource.k8s.io/v1beta1=true; "+
		"api/all, api/ga, api/beta and api/alpha stand for many")
	f.StringVar(&o.clusterIPs, "service-cluster-ip-range", "", "range from which services get addresses, such as 10.0.0.0/24, and after a comma one of the other family; without one they get none")
	f.StringVar(&o.nodePorts, "service-node-port-range", services.DefaultPorts.String(), "ports that services get on nodes, with --service-cluster-ip-range")
	f.Bool("enable-aggregator-routing", true, "send requests for other API servers to the endpoints of their services, which happens in any case")
	f.StringVar(&o.advertise, "advertise-address", "", "address of the endpoints of the service kubernetes, with --service-cluster-ip-range")
	f.StringArrayVar(&o.resolve, "resolve", nil, "NAME.NAMESPACE=HOST:PORT of a service that webhooks or other API servers are behind; may be repeated")
	f.StringVar(&o.webhookUsers, "webhook-kubeconfig", "", "file in the form of a kubeconfig with the credentials of the server at webhooks")
	o.audit.addTo(f)
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log more")
}

// formerNames are the names of flags before they were those of kube-apiserver, with the present ones. They still work.
var formerNames = map[string]string{
	"token-file": "token-auth-file", "client-ca": "client-ca-file", "tls-cert": "tls-cert-file", "tls-key": "tls-private-key-file",
}

func presentName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if present, ok := formerNames[name]; ok {
		name = present
	}
	return pflag.NormalizedName(name)
}

// check refuses flags that do not go together. An address beyond loopback requires TLS, authentication and authorization.
func (o *options) check() error {
	switch {
	case !o.flags.Changed("listen"):
		o.listen = net.JoinHostPort(o.bindAddress, strconv.Itoa(int(o.securePort)))
	case o.flags.Changed("bind-address") || o.flags.Changed("secure-port"):
		return errors.New("--listen excludes --bind-address and --secure-port")
	}
	host, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	o.host = host
	switch {
	case o.tls.off && (o.clientCA != "" || o.proxies.ca != ""):
		return errors.New("--insecure-http goes with neither --client-ca-file nor --requestheader-client-ca-file")
	case o.logFormat != "text" && o.logFormat != "json":
		return fmt.Errorf("--log-format: %q is neither text nor json", o.logFormat)
	case o.data != "" && len(o.etcd.servers) > 0:
		return errors.New("--data and --etcd-servers exclude each other")
	case o.maxObject <= 0:
		return fmt.Errorf("--max-object-bytes: %d is no size", o.maxObject)
	case o.limits.Reading < 0 || o.limits.Writing < 0:
		return errors.New("--max-requests-inflight and --max-mutating-requests-inflight are not negative")
	case o.fairness && o.limits.Reading+o.limits.Writing < 2:
		return errors.New("--enable-priority-and-fairness needs a sum of --max-requests-inflight and --max-mutating-requests-inflight of at least 2")
	case (o.signing.certificate == "") != (o.signing.key == ""):
		return errors.New("--cluster-signing-cert-file and --cluster-signing-key-file go together")
	case o.merge && o.kubeconfig == "":
		return errors.New("--merge needs --kubeconfig")
	}
	if err := o.etcd.check(); err != nil {
		return err
	}
	if err := errors.Join(o.readAuthenticators(), o.readAuthorizers()); err != nil {
		return err
	}
	if err := errors.Join(o.tls.check(), o.checkModes(), o.proxies.check(), o.audit.check()); err != nil {
		return err
	}
	if loopback(host) {
		return nil
	}
	switch {
	case o.tls.off:
		return fmt.Errorf("%s is reached by others: it needs TLS", o.listen)
	case o.tokenFile == "" && o.clientCA == "":
		return fmt.Errorf("%s is reached by others: it needs --token-auth-file or --client-ca-file", o.listen)
	case o.authorization == "allow" && len(o.modes) == 0 || slices.Contains(o.modes, "AlwaysAllow"):
		return fmt.Errorf("%s is reached by others: it needs --authorization-mode RBAC, --authorization deny-anonymous or a policy file", o.listen)
	}
	return nil
}

// authorizationModes are the modes that --authorization-mode takes. kube-apiserver also has Webhook.
var authorizationModes = []string{"AlwaysAllow", "AlwaysDeny", "RBAC", "ABAC", "Node"}

// checkModes refuses authorization modes that are not known, that stand twice, or that stand beside --authorization.
func (o *options) checkModes() error {
	for i, mode := range o.modes {
		switch {
		case !slices.Contains(authorizationModes, mode):
			return fmt.Errorf("--authorization-mode: %q is none of %s", mode, strings.Join(authorizationModes, ", "))
		case slices.Contains(o.modes[:i], mode):
			return fmt.Errorf("--authorization-mode has mode %q more than once", mode)
		}
	}
	if slices.Contains(o.modes, "ABAC") != (o.policyFile != "") {
		return errors.New("--authorization-mode ABAC and --authorization-policy-file go together")
	}
	if len(o.modes) > 0 && o.flags.Changed("authorization") {
		return errors.New("--authorization and --authorization-mode exclude each other")
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
