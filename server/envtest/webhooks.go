package envtest

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	admissionclient "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	"k8s.io/client-go/rest"

	"github.com/deed-project/deed/server/manifest"
)

// WebhookInstallOptions say which webhooks are installed, and where the suite serves them.
type WebhookInstallOptions struct {
	// Paths are files and folders with configurations of webhooks.
	Paths []string
	// MutatingWebhooks are configurations to install. Those of Paths are added.
	MutatingWebhooks []*admissionv1.MutatingWebhookConfiguration
	// ValidatingWebhooks are configurations to install. Those of Paths are added.
	ValidatingWebhooks []*admissionv1.ValidatingWebhookConfiguration
	// IgnoreSchemeConvertible makes the webhooks convert every definition, also those whose Go types are not in the scheme.
	IgnoreSchemeConvertible bool
	// IgnoreErrorIfPathMissing leaves out paths that do not exist.
	IgnoreErrorIfPathMissing bool
	// LocalServingHost is where the suite serves webhooks; Start sets it to 127.0.0.1 unless it is set.
	LocalServingHost string
	// LocalServingPort is the port there; Start sets it to a free one unless it is set.
	LocalServingPort int
	// LocalServingCertDir is set by Start: a folder with the certificate of the suite's server in tls.crt and tls.key.
	LocalServingCertDir string
	// LocalServingCAData is set by Start: the authority of that certificate, in PEM.
	LocalServingCAData []byte
	// LocalServingHostExternalName is the name by which the API server reaches the suite, if that is not LocalServingHost.
	LocalServingHostExternalName string
	// MaxTime is how long to wait until the configurations are there; 0 is 10 seconds.
	MaxTime time.Duration
	// PollInterval is the time between looks; 0 is 100 ms.
	PollInterval time.Duration
}

// PrepWithoutInstalling makes the certificate, reads the configurations of Paths, and makes all of them name the suite's server.
func (o *WebhookInstallOptions) PrepWithoutInstalling() error {
	if err := o.makeCertificate(); err != nil {
		return err
	}
	if err := o.read(); err != nil {
		return err
	}
	return o.ModifyWebhookDefinitions()
}

func (o *WebhookInstallOptions) makeCertificate() error {
	a, err := newAuthority()
	if err != nil {
		return err
	}
	hosts := []string{"localhost", "127.0.0.1"}
	for _, host := range []string{o.LocalServingHost, o.LocalServingHostExternalName} {
		if host != "" {
			hosts = append(hosts, host)
		}
	}
	certificate, key, err := a.server(hosts...)
	if err != nil {
		return err
	}
	if o.LocalServingCertDir, err = os.MkdirTemp("", "deed-envtest-webhooks-"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.LocalServingCertDir, "tls.crt"), certificate, 0o600); err != nil {
		return err
	}
	o.LocalServingCAData = a.certificate
	return os.WriteFile(filepath.Join(o.LocalServingCertDir, "tls.key"), key, 0o600)
}

// read adds the configurations of Paths. Other objects are ignored.
func (o *WebhookInstallOptions) read() error {
	files, err := manifests(o.Paths, o.IgnoreErrorIfPathMissing)
	if err != nil {
		return err
	}
	objects, err := manifest.Reader{}.Read(files...)
	if err != nil {
		return err
	}
	for _, object := range objects {
		switch object.Get("kind").Str() {
		case "MutatingWebhookConfiguration":
			hooks := &admissionv1.MutatingWebhookConfiguration{}
			if err := into(object, hooks); err != nil {
				return err
			}
			o.MutatingWebhooks = append(o.MutatingWebhooks, hooks)
		case "ValidatingWebhookConfiguration":
			hooks := &admissionv1.ValidatingWebhookConfiguration{}
			if err := into(object, hooks); err != nil {
				return err
			}
			o.ValidatingWebhooks = append(o.ValidatingWebhooks, hooks)
		}
	}
	return nil
}

// ModifyWebhookDefinitions makes the configurations trust the certificate, and name the suite's server in the place of services.
func (o *WebhookInstallOptions) ModifyWebhookDefinitions() error {
	at, err := o.hostPort()
	if err != nil {
		return err
	}
	for _, c := range o.MutatingWebhooks {
		for i := range c.Webhooks {
			o.redirect(&c.Webhooks[i].ClientConfig, at)
		}
	}
	for _, c := range o.ValidatingWebhooks {
		for i := range c.Webhooks {
			o.redirect(&c.Webhooks[i].ClientConfig, at)
		}
	}
	return nil
}

func (o *WebhookInstallOptions) redirect(c *admissionv1.WebhookClientConfig, at string) {
	c.CABundle = o.LocalServingCAData
	if c.Service != nil && c.Service.Path != nil {
		url := "https://" + at + "/" + strings.TrimPrefix(*c.Service.Path, "/")
		c.URL, c.Service = &url, nil
	}
}

// hostPort returns how the API server reaches the suite. It chooses a free port if none is set.
func (o *WebhookInstallOptions) hostPort() (string, error) {
	if o.LocalServingPort == 0 {
		l, err := net.Listen("tcp", net.JoinHostPort(cmp.Or(o.LocalServingHost, "127.0.0.1"), "0"))
		if err != nil {
			return "", err
		}
		address := l.Addr().(*net.TCPAddr)
		if err := l.Close(); err != nil {
			return "", err
		}
		o.LocalServingHost, o.LocalServingPort = cmp.Or(o.LocalServingHost, address.IP.String()), address.Port
	}
	host := cmp.Or(o.LocalServingHostExternalName, o.LocalServingHost)
	return net.JoinHostPort(host, strconv.Itoa(o.LocalServingPort)), nil
}

// Install creates or replaces the configurations, and waits until they are there.
func (o *WebhookInstallOptions) Install(config *rest.Config) error {
	if len(o.LocalServingCAData) == 0 {
		if err := o.PrepWithoutInstalling(); err != nil {
			return err
		}
	}
	api, err := admissionclient.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx := context.Background()
	for _, hooks := range o.MutatingWebhooks {
		_, err := api.MutatingWebhookConfigurations().Create(ctx, hooks, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			_, err = api.MutatingWebhookConfigurations().Update(ctx, hooks, metav1.UpdateOptions{})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", hooks.Name, err)
		}
	}
	for _, hooks := range o.ValidatingWebhooks {
		_, err := api.ValidatingWebhookConfigurations().Create(ctx, hooks, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			_, err = api.ValidatingWebhookConfigurations().Update(ctx, hooks, metav1.UpdateOptions{})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", hooks.Name, err)
		}
	}
	return WaitForWebhooks(config, o.MutatingWebhooks, o.ValidatingWebhooks, *o)
}

// WaitForWebhooks waits until the API server has the configurations.
func WaitForWebhooks(config *rest.Config, mutating []*admissionv1.MutatingWebhookConfiguration,
	validating []*admissionv1.ValidatingWebhookConfiguration, options WebhookInstallOptions,
) error {
	api, err := admissionclient.NewForConfig(config)
	if err != nil {
		return err
	}
	return poll(options.PollInterval, options.MaxTime, func(ctx context.Context) (bool, error) {
		for _, hooks := range mutating {
			if _, err := api.MutatingWebhookConfigurations().Get(ctx, hooks.Name, metav1.GetOptions{}); err != nil {
				return false, notFoundIsNil(err)
			}
		}
		for _, hooks := range validating {
			if _, err := api.ValidatingWebhookConfigurations().Get(ctx, hooks.Name, metav1.GetOptions{}); err != nil {
				return false, notFoundIsNil(err)
			}
		}
		return true, nil
	})
}

// notFoundIsNil returns err unless it says that something is not there yet.
func notFoundIsNil(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Cleanup removes the folder with the certificate.
func (o *WebhookInstallOptions) Cleanup() error { return os.RemoveAll(o.LocalServingCertDir) }
