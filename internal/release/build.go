package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/deed-project/deed/internal/release/dist"
	"github.com/deed-project/deed/internal/release/modules"
)

const (
	homepage = "https://github.com/deed-project/deed"
	images   = "ghcr.io/deed-project" // registry of the images of a release
)

// program is a program of a release: a package of one of the published modules. beside is the package of another program that it runs and
// that its archives contain, or empty. extra names further files of its archives.
type program struct {
	name, module, pkg, beside string
	extra                     []string
}

var programs = []program{
	{"deed", "cmd", "cmd/deed", "cmd/deed-validate", []string{"helm/plugin.yaml"}},
	{"deed-apiserver", "server", "server/cmd/deed-apiserver", "", nil},
}

// platforms lists the platforms of a release as GOOS/GOARCH.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

const host = runtime.GOOS + "/" + runtime.GOARCH

// order selects the version, programs and platforms to build.
type order struct {
	version   string
	programs  []string // names
	platforms []string
}

// check refuses programs and platforms that a release does not have.
func (o order) check() error {
	for _, p := range o.platforms {
		if !slices.Contains(platforms, p) {
			return fmt.Errorf("-platforms: %q is none of %s", p, strings.Join(platforms, ", "))
		}
	}
	for _, name := range o.programs {
		if !slices.ContainsFunc(programs, func(p program) bool { return p.name == name }) {
			return fmt.Errorf("-programs: there is no program %q", name)
		}
	}
	return nil
}

func buildCommand(f *flag.FlagSet) func(*run, []string) error {
	version := f.String("version", "", "version of the release; default is that at which the modules require each other")
	out := f.String("o", "dist", "folder for the files of the release, which must be empty or not exist")
	of := f.String("programs", "deed,deed-apiserver", "programs to build")
	on := f.String("platforms", strings.Join(platforms, ","), "platforms to build for")
	return func(r *run, args []string) error {
		o := order{*version, strings.Split(*of, ","), strings.Split(*on, ",")}
		if err := o.check(); err != nil {
			return err
		}
		if left, err := os.ReadDir(*out); err == nil && len(left) > 0 {
			return fmt.Errorf("-o: %s is not empty", *out)
		}
		if o.version == "" {
			var err error
			if o.version, err = r.Version(); err != nil {
				return err
			}
		}
		if err := r.tidy(true); err != nil {
			return err
		}
		return r.build(o, *out)
	}
}

// build writes the files of a release to the directory out, and prints their sizes.
func (r *run) build(o order, out string) (err error) {
	temp, err := os.MkdirTemp("", "deed-build")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	proxy := filepath.Join(temp, "proxy")
	if err := r.WriteProxy(o.version, proxy); err != nil {
		return err
	}
	tool, err := modules.NewTool(proxy, filepath.Join(temp, "modcache"))
	if err != nil {
		return err
	}
	var files []dist.File
	for _, p := range programs {
		if !slices.Contains(o.programs, p.name) {
			continue
		}
		b := &builder{run: r, order: o, program: p, temp: filepath.Join(temp, p.name), tool: tool}
		made, err := b.files()
		if err != nil {
			return err
		}
		files = append(files, made...)
	}
	files = append(files, dist.Checksums(files))
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	table := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(out, f.Name), f.Content, f.Mode); err != nil {
			return err
		}
		fmt.Fprintf(table, "%d\t bytes  %s\n", len(f.Content), f.Name)
	}
	return table.Flush()
}

// builder builds one program as go install PACKAGE@VERSION does. Its module requires only the program's module, and has the program's
// go.sum. The go.sum of the commit therefore determines every dependency of the program.
type builder struct {
	*run
	order
	program
	temp string
	tool *modules.Tool
}

// files returns all files of the program in a release.
func (b *builder) files() ([]dist.File, error) {
	if err := b.prepare(); err != nil {
		return nil, err
	}
	shared, err := b.shared()
	if err != nil {
		return nil, err
	}
	var files []dist.File
	var builds []dist.Build
	for _, platform := range b.platforms {
		b.step("%s for %s", b.name, platform)
		goos, arch, _ := strings.Cut(platform, "/")
		made := dist.Build{OS: goos, Arch: arch}
		if made.Program, err = b.build(b.pkg, goos, arch); err != nil {
			return nil, err
		}
		if b.beside != "" {
			beside, err := b.build(b.beside, goos, arch)
			if err != nil {
				return nil, err
			}
			made.Beside = []dist.File{beside}
		}
		name := b.fileName(goos + "_" + arch)
		if made.Archive, err = dist.Archive(name, goos, slices.Concat(shared, made.Beside, []dist.File{made.Program}), b.Time); err != nil {
			return nil, err
		}
		bill, err := dist.SBOM(name, made.Program, b.Time)
		if err != nil {
			return nil, err
		}
		files, builds = append(files, made.Archive, bill), append(builds, made)
	}
	more, err := b.packages(builds)
	return append(files, more...), err
}

// fileName returns the name of a file of the release without its extension.
func (b *builder) fileName(what string) string { return b.name + "_" + b.version + "_" + what }

// prepare creates the module.
func (b *builder) prepare() error {
	if err := os.MkdirAll(b.temp, 0o755); err != nil {
		return err
	}
	sums, err := b.File(b.module + "/go.sum")
	if err != nil {
		return err
	}
	mod := fmt.Sprintf("module release.invalid/%s\n\ngo 1.26.0\n\nrequire %s %s\n", b.name, modules.PathOf(b.module), b.version)
	return errors.Join(
		os.WriteFile(filepath.Join(b.temp, "go.mod"), []byte(mod), 0o644),
		os.WriteFile(filepath.Join(b.temp, "go.sum"), sums, 0o644),
	)
}

// build builds a program for a platform. pkg is its package.
func (b *builder) build(pkg, goos, arch string) (dist.File, error) {
	name := path.Base(pkg)
	if goos == "windows" {
		name += ".exe"
	}
	content, err := b.compile(pkg, name, "GOOS="+goos, "GOARCH="+arch)
	return dist.File{Name: name, Mode: 0o755, Content: content}, err
}

// compile builds a package of the program's module and returns the executable, which also stays in temp.
func (b *builder) compile(pkg, name string, env ...string) ([]byte, error) {
	out := filepath.Join(b.temp, strings.Join(append(env, name), "_"))
	ldflags := "-s -w -X " + modules.Root + "/internal/build.commit=" + b.Commit
	if _, err := b.tool.In(b.temp).With(env...).Run("build", "-mod=mod", "-ldflags="+ldflags, "-o", out, modules.Root+"/"+pkg); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// packages returns the files of a program other than archives.
func (b *builder) packages(builds []dist.Build) (files []dist.File, err error) {
	license, err := b.File("LICENSE")
	if err != nil {
		return nil, err
	}
	if b.name == "deed" {
		manifest, err := dist.Krew(b.plugin(), builds)
		if err != nil {
			return nil, err
		}
		files = append(files, manifest)
	}
	linux := slices.DeleteFunc(slices.Clone(builds), func(made dist.Build) bool { return made.OS != "linux" })
	if len(linux) == 0 {
		return files, nil
	}
	of := dist.Image{Name: images + "/" + b.name, Version: b.version, Commit: b.Commit, Source: homepage, Time: b.Time}
	image, err := of.Layout(b.fileName("image"), linux, dist.File{Name: "LICENSE", Mode: 0o644, Content: license})
	return append(files, image), err
}

func (b *builder) plugin() dist.Plugin {
	return dist.Plugin{
		Name: "deed", Version: b.version, Homepage: homepage, Downloads: homepage + "/releases/download/" + b.version,
		Short:       "Tell what server-side apply will do, offline",
		Description: "Tells what kubectl apply --server-side will store, who owns each field of it,\nand who conflicts with whom and why, from files and without a cluster.\n",
	}
}

// shared returns the files that all archives of the program contain: license, description, completions and manual pages.
func (b *builder) shared() ([]dist.File, error) {
	var files []dist.File
	for _, name := range append([]string{"LICENSE", "README.md"}, b.extra...) {
		content, err := b.File(name)
		if err != nil {
			return nil, err
		}
		files = append(files, dist.File{Name: name, Mode: 0o644, Content: content})
	}
	if _, err := b.compile(b.pkg, b.name); err != nil {
		return nil, err
	}
	shells, err := b.completions()
	if err != nil {
		return nil, err
	}
	pages, err := b.manual()
	return slices.Concat(files, shells, pages), err
}

// output runs a program of the host with the commit's time, and returns its output.
func (b *builder) output(program string, args ...string) ([]byte, error) {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(b.Time.Unix(), 10))
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", filepath.Base(program), strings.Join(args, " "), err)
	}
	return out, nil
}

// completions returns the shell completions, which the program prints itself.
func (b *builder) completions() (files []dist.File, err error) {
	for shell, name := range map[string]string{"bash": b.name + ".bash", "zsh": "_" + b.name, "fish": b.name + ".fish", "powershell": b.name + ".ps1"} {
		content, err := b.output(filepath.Join(b.temp, b.name), "completion", shell)
		if err != nil {
			return nil, err
		}
		files = append(files, dist.File{Name: "completions/" + name, Mode: 0o644, Content: content})
	}
	return files, nil
}

// helpPages returns the help texts of the program and its subcommands.
func (b *builder) helpPages() (pages []dist.File, err error) {
	help, err := b.output(filepath.Join(b.temp, b.name), "--help")
	if err != nil {
		return nil, err
	}
	pages = append(pages, dist.Page([]string{b.name}, b.version, help, b.Time))
	for _, sub := range dist.Subcommands(help) {
		if help, err = b.output(filepath.Join(b.temp, b.name), sub, "--help"); err != nil {
			return nil, err
		}
		pages = append(pages, dist.Page([]string{b.name, sub}, b.version, help, b.Time))
	}
	return pages, nil
}

// manual returns the manual pages of deed, which a program of its module writes. For another program, it returns the help texts.
func (b *builder) manual() ([]dist.File, error) {
	if b.name != "deed" {
		return b.helpPages()
	}
	if _, err := b.compile("cmd/internal/manual", "manual"); err != nil {
		return nil, err
	}
	dir := filepath.Join(b.temp, "man1")
	if _, err := b.output(filepath.Join(b.temp, "manual"), dir); err != nil {
		return nil, err
	}
	return dist.Below(dir, "man/man1")
}

func pushCommand(*flag.FlagSet) func(*run, []string) error {
	return func(r *run, args []string) error {
		if len(args) == 0 {
			return errors.New("push needs an image, such as dist/deed_v0.1.0_image.tar")
		}
		auth := &authn.Basic{Username: os.Getenv("REGISTRY_USER"), Password: os.Getenv("REGISTRY_TOKEN")}
		for _, name := range args {
			archive, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			pushed, err := dist.Push(archive, auth)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			fmt.Fprintln(r.out, pushed)
		}
		return nil
	}
}
