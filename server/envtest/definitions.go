package envtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"github.com/deed-project/deed/server/manifest"
)

// CRDInstallOptions say which definitions are installed.
type CRDInstallOptions struct {
	// Scheme is as in Environment.
	Scheme *runtime.Scheme
	// Paths are files, and folders whose files are read, but not those of folders in them.
	Paths []string
	// CRDs are definitions to install.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// ErrorIfPathMissing makes a path that does not exist an error.
	ErrorIfPathMissing bool
	// MaxTime is how long to wait until the definitions are served; 0 is 10 seconds.
	MaxTime time.Duration
	// PollInterval is the time between looks; 0 is 100 ms.
	PollInterval time.Duration
	// CleanUpAfterUse makes Environment.Stop delete the definitions.
	CleanUpAfterUse bool
	// WebhookOptions say where the webhooks are that convert.
	WebhookOptions WebhookInstallOptions
}

// How long something is waited for, and how often it is looked at, unless options say otherwise.
const (
	defaultMaxTime      = 10 * time.Second
	defaultPollInterval = 100 * time.Millisecond
)

// InstallCRDs creates or replaces the definitions of the options, waits until they are served, and returns them.
//
// A definition whose kind has a hub among the versions that Scheme knows is converted by the webhooks of WebhookOptions. Another definition
// loses its webhook for conversion, because no handler would answer it.
func InstallCRDs(config *rest.Config, options CRDInstallOptions) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	if err := ReadCRDFiles(&options); err != nil {
		return nil, err
	}
	if err := options.setConversion(); err != nil {
		return nil, err
	}
	if err := CreateCRDs(config, options.CRDs); err != nil {
		return options.CRDs, err
	}
	return options.CRDs, WaitForCRDs(config, options.CRDs, options)
}

// ReadCRDFiles adds to CRDs the definitions in the files of Paths. Other objects in these files are ignored.
func ReadCRDFiles(options *CRDInstallOptions) error {
	files, err := manifests(options.Paths, !options.ErrorIfPathMissing)
	if err != nil {
		return err
	}
	objects, err := manifest.Reader{}.Definitions(files...)
	if err != nil {
		return err
	}
	var read []*apiextensionsv1.CustomResourceDefinition
	for _, o := range objects {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := into(o, crd); err != nil {
			return err
		}
		read = append(read, crd)
	}
	options.CRDs = merged(options.CRDs, read)
	return nil
}

// manifests returns the files of YAML and JSON that paths name, themselves or as their folder. Missing paths are an error unless they may be
// missing.
func manifests(paths []string, mayBeMissing bool) ([]string, error) {
	var files []string
	for _, path := range paths {
		is, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && mayBeMissing:
			continue
		case err != nil:
			return nil, err
		case !is.IsDir():
			files = append(files, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
				files = append(files, filepath.Join(path, entry.Name()))
			}
		}
	}
	return files, nil
}

// into decodes an object of a file. The error names the file.
func into(o manifest.Object, to runtime.Object) error {
	if err := json.Unmarshal(o.AppendJSON(nil), to); err != nil {
		return fmt.Errorf("%s: %w", o.Where(), err)
	}
	return nil
}

// merged returns the definitions of both lists. Of two with one name, the later one counts.
func merged(a, b []*apiextensionsv1.CustomResourceDefinition) []*apiextensionsv1.CustomResourceDefinition {
	var all []*apiextensionsv1.CustomResourceDefinition
	at := map[string]int{}
	for _, crd := range slices.Concat(a, b) {
		if i, found := at[crd.Name]; found {
			all[i] = crd
			continue
		}
		at[crd.Name] = len(all)
		all = append(all, crd)
	}
	return all
}

// setConversion makes definitions be converted by the webhooks.
func (o *CRDInstallOptions) setConversion() error {
	if len(o.WebhookOptions.LocalServingCAData) == 0 {
		return nil
	}
	types := o.Scheme
	if types == nil {
		types = scheme.Scheme
	}
	at, err := o.WebhookOptions.hostPort()
	if err != nil {
		return err
	}
	url := "https://" + at + "/convert"
	converted := convertible(types)
	for _, crd := range o.CRDs {
		if crd.Spec.PreserveUnknownFields {
			continue
		}
		if !converted[schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}] && !o.WebhookOptions.IgnoreSchemeConvertible {
			crd.Spec.Conversion = nil
			continue
		}
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ConversionReviewVersions: []string{"v1", "v1beta1"},
				ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: o.WebhookOptions.LocalServingCAData},
			},
		}
	}
	return nil
}

// convertible returns the kinds of a scheme that have one hub, and whose other versions are all converted to and from it.
//
// Hubs and their spokes are known by their methods, since the interfaces of controller-runtime cannot be imported here.
func convertible(types *runtime.Scheme) map[schema.GroupKind]bool {
	hubs, others := map[schema.GroupKind]int{}, map[schema.GroupKind]int{}
	spokes := map[schema.GroupKind]int{}
	for gvk, goType := range types.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal {
			continue
		}
		kind, pointer := gvk.GroupKind(), reflect.PointerTo(goType)
		_, to := pointer.MethodByName("ConvertTo")
		_, from := pointer.MethodByName("ConvertFrom")
		_, isHub := pointer.MethodByName("Hub")
		switch {
		case isHub:
			hubs[kind]++
		case to && from:
			spokes[kind]++
		default:
			others[kind]++
		}
	}
	is := map[schema.GroupKind]bool{}
	for kind, n := range hubs {
		is[kind] = n == 1 && spokes[kind] > 0 && others[kind] == 0
	}
	return is
}

// CreateCRDs creates definitions. Those that exist are replaced.
func CreateCRDs(config *rest.Config, crds []*apiextensionsv1.CustomResourceDefinition) error {
	c, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	all, ctx := c.ApiextensionsV1().CustomResourceDefinitions(), context.Background()
	for _, crd := range crds {
		_, err := all.Create(ctx, crd, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
				old, err := all.Get(ctx, crd.Name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				replacement := crd.DeepCopy()
				replacement.ResourceVersion = old.ResourceVersion
				_, err = all.Update(ctx, replacement, metav1.UpdateOptions{})
				return err
			})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", crd.Name, err)
		}
	}
	return nil
}

// WaitForCRDs waits until discovery lists all served versions of definitions.
func WaitForCRDs(config *rest.Config, crds []*apiextensionsv1.CustomResourceDefinition, options CRDInstallOptions) error {
	c, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	missing := map[schema.GroupVersionResource]bool{}
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			if version.Served {
				missing[schema.GroupVersionResource{Group: crd.Spec.Group, Version: version.Name, Resource: crd.Spec.Names.Plural}] = true
			}
		}
	}
	err = options.poll(func(context.Context) (bool, error) {
		for resource := range missing {
			list, err := c.Discovery().ServerResourcesForGroupVersion(resource.GroupVersion().String())
			if err != nil {
				return false, nil // it may come yet
			}
			if slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource.Resource }) {
				delete(missing, resource)
			}
		}
		return len(missing) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("%d versions of definitions are not served: %w", len(missing), err)
	}
	return nil
}

// poll calls is until it returns true.
func (o *CRDInstallOptions) poll(is wait.ConditionWithContextFunc) error {
	return poll(o.PollInterval, o.MaxTime, is)
}

func poll(interval, atMost time.Duration, is wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextTimeout(context.Background(), cmp.Or(interval, defaultPollInterval), cmp.Or(atMost, defaultMaxTime), true, is)
}

// UninstallCRDs deletes the definitions of the options. Those that are not there count as deleted.
func UninstallCRDs(config *rest.Config, options CRDInstallOptions) error {
	if err := ReadCRDFiles(&options); err != nil {
		return err
	}
	c, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, crd := range options.CRDs {
		err := c.ApiextensionsV1().CustomResourceDefinitions().Delete(context.Background(), crd.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("%s: %w", crd.Name, err)
		}
	}
	return nil
}
