// Package envtest is in the place of the package of this name of controller-runtime. The suite of a controller changes one import, and has its
// API server in its own process, without programs to download:
//
//	testEnv := &envtest.Environment{CRDDirectoryPaths: []string{"config/crd/bases"}}
//	cfg, err := testEnv.Start()
//	defer testEnv.Stop()
//
// Names, fields and what they mean are those of controller-runtime. Fields about programs, such as BinaryAssetsDirectory, have no effect. The
// server takes the flags of kube-apiserver. Like the one of controller-runtime it decides by RBAC, has the admission plugins of
// kube-apiserver but ServiceAccount, and runs no controllers. So deleted namespaces keep their objects, and no garbage is collected. The flag
// "controllers", which APIServer.Configure sets and kube-apiserver lacks, switches controllers on.
//
// Suites that cannot change an import set KUBEBUILDER_ASSETS to what the command deed-apiserver assets writes. New suites are better served
// by package apitest, whose servers start in milliseconds and end with their test.
package envtest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Environment is an API server for a suite, with definitions and webhooks. [Environment.Start] starts it.
type Environment struct {
	// ControlPlane is the server, with flags that the suite sets before Start.
	ControlPlane ControlPlane
	// Scheme tells which kinds are converted by the webhooks of the suite: those that have a hub among their versions. Nil is that of
	// client-go.
	Scheme *runtime.Scheme
	// Config is set by Start: how an administrator reaches the server. If the suite sets it, and UseExistingCluster, it is where the
	// existing cluster is.
	Config *rest.Config
	// KubeConfig is set by Start: Config as a kubeconfig file.
	KubeConfig []byte

	CRDInstallOptions     CRDInstallOptions
	WebhookInstallOptions WebhookInstallOptions
	// ErrorIfCRDPathMissing makes a path of definitions that does not exist an error.
	ErrorIfCRDPathMissing bool
	// CRDs are definitions to install, beside those of CRDInstallOptions. Start sets it to all that are installed.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// CRDDirectoryPaths are files and folders with definitions, beside the paths of CRDInstallOptions.
	CRDDirectoryPaths []string

	// UseExistingCluster makes the suite use the cluster of Config, or of the user's kubeconfig. Nil is whether the environment variable
	// USE_EXISTING_CLUSTER is "true".
	UseExistingCluster *bool
	// ControlPlaneStartTimeout is how long the server may take until it answers; 0 is the duration in the environment variable
	// KUBEBUILDER_CONTROLPLANE_START_TIMEOUT, or 20 seconds.
	ControlPlaneStartTimeout time.Duration
	// ControlPlaneStopTimeout is how long the server may take to end; 0 is the duration in KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT, or
	// 20 seconds.
	ControlPlaneStopTimeout time.Duration
	// AttachControlPlaneOutput writes what the server says to the standard streams of the process. The environment variable
	// KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT does, too, if it is "true".
	AttachControlPlaneOutput bool

	// These have no effect: there are no programs.
	DownloadBinaryAssets         bool
	DownloadBinaryAssetsVersion  string
	DownloadBinaryAssetsIndexURL string
	BinaryAssetsDirectory        string
}

// defaultTimeout is how long the server may take to start, and to end.
const defaultTimeout = 20 * time.Second

// Start starts the server, installs definitions and webhooks, and returns the configuration of an administrator's clients. The error names
// the part that failed; the server may run then, until Stop.
func (e *Environment) Start() (*rest.Config, error) {
	if err := e.connect(); err != nil {
		return nil, err
	}
	var err error
	if e.KubeConfig, err = kubeconfigOf(e.Config); err != nil {
		return nil, err
	}
	if e.Scheme == nil {
		e.Scheme = scheme.Scheme
	}
	// Definitions may be converted by the webhooks, whose address and certificate must be known then.
	if err := e.WebhookInstallOptions.PrepWithoutInstalling(); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	o := &e.CRDInstallOptions
	if o.Scheme == nil {
		o.Scheme = e.Scheme
	}
	o.CRDs = merged(o.CRDs, e.CRDs)
	for _, path := range e.CRDDirectoryPaths {
		if !slices.Contains(o.Paths, path) { // which it does when the suite starts again
			o.Paths = append(o.Paths, path)
		}
	}
	o.ErrorIfPathMissing = e.ErrorIfCRDPathMissing
	o.WebhookOptions = e.WebhookInstallOptions
	if e.CRDs, err = InstallCRDs(e.Config, *o); err != nil {
		return e.Config, fmt.Errorf("definitions: %w", err)
	}
	if err := e.WebhookInstallOptions.Install(e.Config); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	return e.Config, nil
}

// connect sets Config.
func (e *Environment) connect() error {
	if e.isExisting() {
		if e.Config != nil {
			return nil
		}
		var err error
		e.Config, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
		if err != nil {
			return fmt.Errorf("the existing cluster: %w", err)
		}
		return nil
	}
	if e.AttachControlPlaneOutput || os.Getenv("KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT") == "true" {
		e.ControlPlane.GetAPIServer().attach()
	}
	var err error
	if e.ControlPlane.startTimeout, err = timeout(e.ControlPlaneStartTimeout, "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT"); err != nil {
		return err
	}
	if e.ControlPlane.stopTimeout, err = timeout(e.ControlPlaneStopTimeout, "KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT"); err != nil {
		return err
	}
	if err := e.ControlPlane.Start(); err != nil {
		return fmt.Errorf("the control plane: %w", err)
	}
	admin, err := e.AddUser(User{Name: "admin", Groups: []string{"system:masters"}}, &rest.Config{QPS: 1000, Burst: 2000})
	if err != nil {
		return err
	}
	e.Config = admin.Config()
	return nil
}

// timeout returns a timeout that the suite or an environment variable sets.
func timeout(set time.Duration, variable string) (time.Duration, error) {
	text := os.Getenv(variable)
	if set != 0 || text == "" {
		if set == 0 {
			set = defaultTimeout
		}
		return set, nil
	}
	set, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", variable, err)
	}
	return set, nil
}

func (e *Environment) isExisting() bool {
	if e.UseExistingCluster != nil {
		return *e.UseExistingCluster
	}
	return strings.EqualFold(os.Getenv("USE_EXISTING_CLUSTER"), "true")
}

// Stop ends the server, and removes what Start left in files. With CRDInstallOptions.CleanUpAfterUse, it deletes the definitions first,
// which matters for existing clusters.
func (e *Environment) Stop() error {
	var err error
	if e.CRDInstallOptions.CleanUpAfterUse && e.Config != nil {
		err = UninstallCRDs(e.Config, e.CRDInstallOptions)
	}
	err = errors.Join(err, e.WebhookInstallOptions.Cleanup())
	if !e.isExisting() {
		err = errors.Join(err, e.ControlPlane.Stop())
	}
	return err
}

// AddUser returns a user of the server, with a client certificate of its own. The settings of base are kept; nil is the zero Config. What the
// user may do is a matter of roles and bindings; members of system:masters may do everything.
func (e *Environment) AddUser(user User, base *rest.Config) (*AuthenticatedUser, error) {
	return e.ControlPlane.AddUser(user, base)
}

// kubeconfigOf returns the kubeconfig of a client's configuration.
func kubeconfigOf(c *rest.Config) ([]byte, error) {
	const name = "envtest"
	k := clientcmdapi.NewConfig()
	k.Clusters[name] = &clientcmdapi.Cluster{Server: c.Host, CertificateAuthorityData: c.CAData, CertificateAuthority: c.CAFile, InsecureSkipTLSVerify: c.Insecure}
	k.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: c.CertData, ClientCertificate: c.CertFile, ClientKeyData: c.KeyData, ClientKey: c.KeyFile,
		Token: c.BearerToken, TokenFile: c.BearerTokenFile, Username: c.Username, Password: c.Password,
	}
	k.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	k.CurrentContext = name
	return clientcmd.Write(*k)
}
