// Package connect opens the cluster of a kubeconfig, for reading. A [Cluster] finds the resources that a command line names, and fetches
// objects. The package sends GET requests alone, and changes nothing in the cluster.
package connect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/deed-project/deed/internal/build"
	"github.com/deed-project/deed/kube/cluster"
)

// Flags says which cluster to open, as the flags of kubectl with these names do. The zero value is the current context.
type Flags struct {
	Kubeconfig, Context, Token string
	As                         string              // the user to impersonate
	AsGroups                   []string            // the groups to impersonate
	helm                       func(string) string // returns a variable of Helm; nil if none counts
}

// IsZero reports whether f is the zero value.
func (f Flags) IsZero() bool { return reflect.ValueOf(f).IsZero() }

// FromHelm returns f with the variables by which Helm names a cluster and a user to its plugins. variable returns one by its name.
func (f Flags) FromHelm(variable func(string) string) Flags {
	f.helm = variable
	return f
}

// overrides returns what comes before the kubeconfig.
func (f Flags) overrides() *clientcmd.ConfigOverrides {
	o := &clientcmd.ConfigOverrides{CurrentContext: f.Context}
	o.AuthInfo.Token, o.AuthInfo.Impersonate, o.AuthInfo.ImpersonateGroups = f.Token, f.As, f.AsGroups
	if f.helm == nil {
		return o
	}
	o.CurrentContext = cmp.Or(f.Context, f.helm("HELM_KUBECONTEXT"))
	o.ClusterInfo.Server, o.ClusterInfo.CertificateAuthority = f.helm("HELM_KUBEAPISERVER"), f.helm("HELM_KUBECAFILE")
	o.ClusterInfo.TLSServerName = f.helm("HELM_KUBETLS_SERVER_NAME")
	o.ClusterInfo.InsecureSkipTLSVerify, _ = strconv.ParseBool(f.helm("HELM_KUBEINSECURE_SKIP_TLS_VERIFY")) // false for another text
	o.AuthInfo.Token, o.AuthInfo.Impersonate = f.helm("HELM_KUBETOKEN"), f.helm("HELM_KUBEASUSER")
	if groups := f.helm("HELM_KUBEASGROUPS"); groups != "" {
		o.AuthInfo.ImpersonateGroups = strings.Split(groups, ",")
	}
	return o
}

// ErrNone is returned by [Open] if no configuration names a cluster.
var ErrNone = errors.New("no kubeconfig names a cluster: KUBECONFIG, --kubeconfig and ~/.kube/config are where one is looked for")

// Cluster is an open cluster. It is safe for concurrent use.
type Cluster struct {
	*cluster.Cluster
	Namespace string // the namespace of the context
}

// Open returns the cluster of f. timeout limits each request; 0 means no limit. warn receives what does not keep the cluster from being
// read. Open sends no request.
func Open(f Flags, timeout time.Duration, warn func(error)) (*Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.Kubeconfig
	rules.Warner = func(err error) { warn(err) }
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, f.overrides())
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	config.Timeout, config.UserAgent = timeout, "deed/"+build.Read().Version
	get, server, err := newGet(config)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	var cache *cluster.Cache
	if folder, err := os.UserCacheDir(); err == nil { // without a home, nothing is kept
		cache = cluster.NewCache(filepath.Join(folder, "deed", "openapi"), server)
		cache.Failed = warn
	}
	return &Cluster{cluster.New(get, cache), namespace}, nil
}

// maxAnswer is the maximum length of an answer, in bytes.
const maxAnswer = 256 << 20

// newGet returns a function that sends requests to the server of config, and the URL of the server.
func newGet(config *rest.Config) (cluster.Get, string, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, "", err
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, "", err
	}
	server := strings.TrimSuffix(base.String(), "/")
	return func(ctx context.Context, path, accept string) (data []byte, err error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+path, nil)
		if err != nil {
			return nil, err
		}
		if accept == "" {
			accept = "application/json"
		}
		request.Header.Set("Accept", accept)
		request.Header.Set("User-Agent", config.UserAgent)
		answer, err := client.Do(request)
		if err != nil {
			return nil, &RequestError{err, err}
		}
		defer func() { err = errors.Join(err, answer.Body.Close()) }()
		data, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
		switch {
		case err != nil:
			return nil, err
		case len(data) > maxAnswer:
			return nil, fmt.Errorf("the answer for %s has more than %d MiB", path, maxAnswer>>20)
		case answer.StatusCode == http.StatusOK:
			return data, nil
		}
		return nil, refusal(server, answer, data)
	}, server, nil
}

// RequestError reports a request that has no answer, or none that was hoped for. The command line is not at fault.
type RequestError struct {
	error       // says what to do about the cause, if that is known
	cause error // package apierrors knows those of a server
}

// Unwrap returns the cause.
func (e *RequestError) Unwrap() error { return e.cause }

// refusal returns the error of an answer of server that is no success. body is that of the answer.
func refusal(server string, answer *http.Response, body []byte) error {
	code := answer.StatusCode
	e := &RequestError{cause: apierrors.NewGenericServerResponse(code, "get", gvkschema.GroupResource{}, "", "", 0, true)}
	var status metav1.Status
	isStatus := json.Unmarshal(body, &status) == nil && status.Kind == "Status" && status.Message != ""
	if isStatus {
		e.cause = &apierrors.StatusError{ErrStatus: status}
	}
	switch {
	case code == http.StatusUnauthorized:
		e.error = fmt.Errorf("%s does not accept the credentials of the kubeconfig: log in again, or name another context with --context", server)
	case isStatus:
		e.error = e.cause
	default:
		e.error = fmt.Errorf("%s answers %s without a Status of Kubernetes: is it the address of an API server?", server, answer.Status)
	}
	return e
}
