// Command apiserver runs kube-apiserver v1.37.1 with an embedded etcd, in one process and on a fresh store. By the replace directives of
// this module, deed is in the place of structured-merge-diff. Command beside compares it with a kube-apiserver without deed, which is the
// same program without one directive. Building takes 20 minutes of CPU, so no gate does it:
//
//	export GOWORK=off
//	go build -o /tmp/deed .
//	cp go.mod /tmp/plain.mod && cp go.sum /tmp/plain.sum
//	go mod edit -dropreplace sigs.k8s.io/structured-merge-diff/v6 /tmp/plain.mod
//	go build -modfile /tmp/plain.mod -mod=mod -o /tmp/plain .
//
//	/tmp/plain 16443 & /tmp/deed 16453 &       # each takes this port and the two behind it
//	go run ./beside -plain 16443,PID -deed 16453,PID ../../../schema/builtin/testdata/recordings/*.gz
//
// The server listens on 127.0.0.1, and its token is tok. Further arguments are flags of kube-apiserver.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) (err error) {
	if len(args) == 0 {
		return errors.New("usage: apiserver PORT [flags of kube-apiserver]")
	}
	port, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "apiserver")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := credentials(dir); err != nil {
		return err
	}
	store, stop, err := etcd(dir, port+1)
	if err != nil {
		return err
	}
	defer stop()
	cmd := app.NewAPIServerCommand()
	cmd.SetArgs(append([]string{
		"--etcd-servers=" + store,
		"--secure-port=" + strconv.Itoa(port),
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		"--cert-dir=" + filepath.Join(dir, "certs"),
		"--service-account-key-file=" + filepath.Join(dir, "key"),
		"--service-account-signing-key-file=" + filepath.Join(dir, "key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--token-auth-file=" + filepath.Join(dir, "tokens.csv"),
		"--authorization-mode=AlwaysAllow",
		"--disable-admission-plugins=ServiceAccount",
		"--endpoint-reconciler-type=none",
		"--enable-priority-and-fairness=false",
		"--allow-privileged=true",
	}, args[1:]...))
	return cmd.Execute()
}

// credentials makes the key of service accounts and the file of tokens.
func credentials(dir string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "key"), text, 0o600),
		os.WriteFile(filepath.Join(dir, "tokens.csv"), []byte("tok,admin,1,system:masters\n"), 0o600),
	)
}

// etcd starts an etcd that listens on port and, for members that do not come, on the next one.
func etcd(dir string, port int) (address string, stop func(), err error) {
	at := func(port int) []url.URL { return []url.URL{{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}} }
	config := embed.NewConfig()
	config.Dir = filepath.Join(dir, "etcd")
	config.ListenClientUrls, config.AdvertiseClientUrls = at(port), at(port)
	config.ListenPeerUrls, config.AdvertisePeerUrls = at(port+1), at(port+1)
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	server, err := embed.StartEtcd(config)
	if err != nil {
		return "", nil, err
	}
	<-server.Server.ReadyNotify()
	return at(port)[0].String(), server.Close, nil
}
