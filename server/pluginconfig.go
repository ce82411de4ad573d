package server

import (
	"fmt"
	"maps"
	"slices"

	"github.com/deed-project/deed/server/admission/podsecurity"
	"github.com/deed-project/deed/server/admission/quota"
)

// pluginConfig is what the configuration says of admission plugins. Its zero value is that of kube-apiserver without a file.
type pluginConfig struct {
	podSecurity *podsecurity.Config
	limited     []quota.Limited
}

// readPluginConfig reads the configurations of plugins, by name.
func readPluginConfig(texts map[string][]byte) (c pluginConfig, err error) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		switch name {
		case "PodSecurity":
			c.podSecurity, err = podsecurity.Read(texts[name])
		case "ResourceQuota":
			c.limited, err = quota.Read(texts[name])
		default:
			err = fmt.Errorf("the server takes no configuration for it")
		}
		if err != nil {
			return c, fmt.Errorf("admission plugin %s: %w", name, err)
		}
	}
	return c, nil
}

// enabledPlugins returns the names of the admission plugins that c switches on: those that it enables, and those that it configures and does not
// disable.
func enabledPlugins(c Config) []string {
	names := slices.Clone(c.EnableAdmissionPlugins)
	for name := range c.PluginConfiguration {
		if !slices.Contains(c.DisableAdmissionPlugins, name) {
			names = append(names, name)
		}
	}
	return names
}
