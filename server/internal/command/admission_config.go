package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/config/apis/webhookadmission"
	webhookadmissionv1 "k8s.io/apiserver/pkg/admission/plugin/webhook/config/apis/webhookadmission/v1"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/install"

	"github.com/deed-project/deed/server"
)

// configurePlugins takes the file of --admission-control-config-file into c: an AdmissionConfiguration of the group apiserver.config.k8s.io. It
// warns w of plugins that have no configuration here.
func (o *options) configurePlugins(c *server.Config, w io.Writer) error {
	if o.pluginFile == "" {
		return nil
	}
	config, err := decodeFile[*apiserver.AdmissionConfiguration](o.pluginFile)
	if err != nil {
		return err
	}
	c.PluginConfiguration = map[string][]byte{}
	for _, plugin := range config.Plugins {
		if err := o.configurePlugin(c, plugin, w); err != nil {
			return fmt.Errorf("%s: plugin %s: %w", o.pluginFile, plugin.Name, err)
		}
	}
	return nil
}

// configurePlugin takes the configuration of one plugin into c. Of a plugin that has several, the first one counts, as in kube-apiserver.
func (o *options) configurePlugin(c *server.Config, plugin apiserver.AdmissionPluginConfiguration, w io.Writer) error {
	text, err := textOf(plugin, filepath.Dir(o.pluginFile))
	if err != nil {
		return err
	}
	switch _, known := c.PluginConfiguration[plugin.Name]; {
	case known || text == nil:
	case plugin.Name == "MutatingAdmissionWebhook" || plugin.Name == "ValidatingAdmissionWebhook":
		webhooks, err := decode[*webhookadmission.WebhookAdmission](text)
		if err != nil {
			return err
		}
		if o.webhookUsers == "" {
			o.webhookUsers = webhooks.KubeConfigFile
		}
		if webhooks.KubeConfigFile != o.webhookUsers {
			return fmt.Errorf("all webhooks have the same kubeConfigFile here, and another one is %s", o.webhookUsers)
		}
	case plugin.Name == "PodSecurity" || plugin.Name == "ResourceQuota":
		c.PluginConfiguration[plugin.Name] = text
	default:
		fmt.Fprintf(w, "%s: the configuration of plugin %s has no effect\n", o.pluginFile, plugin.Name)
	}
	return nil
}

// textOf returns the configuration of a plugin, which may be in a file of its own. A path without a slash in front is relative to folder.
func textOf(plugin apiserver.AdmissionPluginConfiguration, folder string) ([]byte, error) {
	switch path := plugin.Path; {
	case plugin.Configuration != nil:
		return plugin.Configuration.Raw, nil
	case path == "":
		return nil, nil
	case !filepath.IsAbs(path):
		return os.ReadFile(filepath.Join(folder, path))
	default:
		return os.ReadFile(path)
	}
}

// decodeFile reads a file of YAML or JSON as an object of a configuration.
func decodeFile[T runtime.Object](name string) (out T, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return out, err
	}
	if out, err = decode[T](text); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return out, err
}

// decode reads YAML or JSON as an object of a configuration, in any of its versions.
func decode[T runtime.Object](text []byte) (out T, err error) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	utilruntime.Must(webhookadmission.AddToScheme(scheme))
	utilruntime.Must(webhookadmissionv1.AddToScheme(scheme))
	object, err := runtime.Decode(serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(), text)
	if err != nil {
		return out, err
	}
	out, is := object.(T)
	if !is {
		return out, fmt.Errorf("unexpected type: %T", object)
	}
	return out, nil
}
