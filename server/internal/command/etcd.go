package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/etcd"
)

// etcdOptions say where an etcd is that keeps the objects. Flags are called as those of kube-apiserver.
type etcdOptions struct {
	servers            []string
	ca, cert, key      string
	prefix             string
	user, passwordFile string
	compaction         time.Duration
	inFiles            bool   // the first of servers may be the program of [etcdCommand]
	file               string // is where the objects are, if it is
}

// etcdPatience is how long etcd may take to answer when the server starts, until that is told. Then the server tries again.
const etcdPatience = 3 * time.Second

func (o *etcdOptions) addTo(f *pflag.FlagSet) {
	f.StringSliceVar(&o.servers, "etcd-servers", nil, "URLs of an etcd that keeps the objects, which several servers may share")
	f.StringVar(&o.ca, "etcd-cafile", "", "PEM file with the authorities of etcd's certificate")
	f.StringVar(&o.cert, "etcd-certfile", "", "PEM file with the certificate that the server shows to etcd")
	f.StringVar(&o.key, "etcd-keyfile", "", "PEM file with the key of that certificate")
	f.StringVar(&o.user, "etcd-user", "", "user name for etcd, if it requires one")
	f.StringVar(&o.passwordFile, "etcd-password-file", "", "file with the password of that user")
	f.StringVar(&o.prefix, "etcd-prefix", "/registry", "what all keys in etcd begin with")
	f.DurationVar(&o.compaction, "etcd-compaction-interval", 0,
		"compact history of etcd that is older than this; 0 leaves compaction to the operator of etcd")
}

// check refuses flags that do not go together.
func (o *etcdOptions) check() error {
	for _, text := range o.servers {
		if strings.Contains(text, "@") { // not quoted: it may hold a password
			return errors.New("--etcd-servers: want URLs without user and password, which --etcd-user and --etcd-password-file say")
		}
	}
	switch {
	case len(o.servers) > 0 && (o.cert == "") != (o.key == ""):
		return errors.New("--etcd-certfile and --etcd-keyfile go together")
	case len(o.servers) > 0 && (o.user == "") != (o.passwordFile == ""):
		return errors.New("--etcd-user and --etcd-password-file go together")
	case o.compaction < 0:
		return errors.New("--etcd-compaction-interval is negative")
	case len(o.servers) == 0 && (o.ca+o.cert+o.key+o.user+o.passwordFile != "" || o.compaction > 0):
		return errors.New("flags about etcd need --etcd-servers")
	}
	return nil
}

// open opens the store, and says in c how the server is to use it. It waits for an etcd that does not answer until ctx is done.
func (o *etcdOptions) open(ctx context.Context, c *server.Config) error {
	password, err := o.password()
	if err != nil {
		return fmt.Errorf("--etcd-password-file: %w", err)
	}
	config := etcd.Config{
		Endpoints: o.servers, CA: o.ca, Cert: o.cert, Key: o.key, User: o.user, Password: etcd.PasswordOf(password),
		Keys: etcd.Registry(o.prefix), Now: time.Now,
	}
	s, err := o.attempt(ctx, config)
	for said := ""; isSilent(err) && ctx.Err() == nil; s, err = o.attempt(ctx, config) {
		if text := err.Error(); text != said {
			logs.New(c.Log).Error("etcd is tried again until it answers", logs.Fault(err))
			said = text
		}
	}
	if err != nil {
		return fmt.Errorf("--etcd-servers: %w", err)
	}
	c.Store, c.Shared = s, o.file == ""
	if o.compaction > 0 {
		c.Past = &store.Window{Age: o.compaction}
	}
	return nil
}

func (o *etcdOptions) attempt(ctx context.Context, c etcd.Config) (store.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, etcdPatience)
	defer cancel()
	if o.inFiles {
		objects, err := askForFile(ctx, o.servers[0])
		if err == nil && objects.Name != "" {
			o.file = objects.Name
			return objects.open()
		}
	}
	return etcd.Open(ctx, c)
}

func isSilent(err error) bool {
	silent := (*etcd.SilentError)(nil)
	return errors.As(err, &silent)
}

func (o *etcdOptions) password() (string, error) {
	if o.passwordFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(o.passwordFile)
	return strings.TrimSuffix(string(text), "\n"), err
}

// String says where objects are kept.
func (o *etcdOptions) String() string {
	return fmt.Sprintf("etcd at %s, under %s", strings.Join(o.servers, ", "), path.Join("/", o.prefix))
}
