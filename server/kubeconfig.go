package server

import (
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// KubeconfigName is what the cluster, the user and the context of a [Kubeconfig] are called.
const KubeconfigName = "deed"

// Kubeconfig returns the configuration with which clients reach a server at url: trusted is the certificate that they must trust,
// in PEM, and token the bearer token that they send; either may be empty.
func Kubeconfig(url string, trusted []byte, token string) *clientcmdapi.Config {
	c := clientcmdapi.NewConfig()
	c.Clusters[KubeconfigName] = &clientcmdapi.Cluster{Server: url, CertificateAuthorityData: trusted}
	c.AuthInfos[KubeconfigName] = &clientcmdapi.AuthInfo{Token: token}
	c.Contexts[KubeconfigName] = &clientcmdapi.Context{Cluster: KubeconfigName, AuthInfo: KubeconfigName}
	c.CurrentContext = KubeconfigName
	return c
}

// WriteKubeconfig writes c to a file that only its owner can read. If merge is set, what is in the file stays, but for what c
// has under the same names.
func WriteKubeconfig(name string, c *clientcmdapi.Config, merge bool) error {
	if !merge {
		return clientcmd.WriteToFile(*c, name)
	}
	old, err := (&clientcmd.ClientConfigLoadingRules{ExplicitPath: name, Precedence: []string{name}}).Load()
	if err != nil {
		return err
	}
	for n, cluster := range c.Clusters {
		old.Clusters[n] = cluster
	}
	for n, user := range c.AuthInfos {
		old.AuthInfos[n] = user
	}
	for n, context := range c.Contexts {
		old.Contexts[n] = context
	}
	old.CurrentContext = c.CurrentContext
	return clientcmd.WriteToFile(*old, name)
}
