package server

import (
	"errors"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// KubeconfigName is what the cluster, the user and the context of a [Kubeconfig] are called.
const KubeconfigName = "deed"

// Kubeconfig returns the configuration with which clients reach a server at url: trusted is the certificate that they must trust,
// in PEM, and token the bearer token that they send; either may be empty.
//
// It has one cluster, one user and one context.
func Kubeconfig(url string, trusted []byte, token string) *clientcmdapi.Config {
	c := clientcmdapi.NewConfig()
	c.Clusters[KubeconfigName] = &clientcmdapi.Cluster{Server: url, CertificateAuthorityData: trusted}
	c.AuthInfos[KubeconfigName] = &clientcmdapi.AuthInfo{Token: token}
	c.Contexts[KubeconfigName] = &clientcmdapi.Context{Cluster: KubeconfigName, AuthInfo: KubeconfigName}
	c.CurrentContext = KubeconfigName
	return c
}

// WriteKubeconfig writes c to a file that only its owner can read, whatever was there under the name: the file is a new one, which
// takes the place of another file or of a symbolic link. If merge is set, what is in the file stays, but for what c has under the same
// names.
func WriteKubeconfig(name string, c *clientcmdapi.Config, merge bool) error {
	if !merge {
		return writePrivately(name, c)
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
	return writePrivately(name, old)
}

// writePrivately writes c to a new file and gives it its name when it is complete.
//
// So a reader sees the old file or the new one, and never a part. A file that is not complete is removed.
func writePrivately(name string, c *clientcmdapi.Config) error {
	text, err := clientcmd.Write(*c)
	if err != nil {
		return err
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".kubeconfig-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
