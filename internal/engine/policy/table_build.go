package policy

// tableBuild: build, test, lint and format runners (D24), and the package
// managers of languages.
const tableBuild = `
cmake | build | t* | -E! -P:x -C:x -B:o -S:m -D -G -T -A -U -N! --build:b --install=install --preset --target -j? --parallel? --config --toolchain:r --graphviz:w --log-level -t -W? | cmake
ctest | build | t* | -S:x -SP:x --test-dir:c -R -E -L -C -j? -D -M -T -I -O:w --output-log:w --timeout --output-junit:w --build-and-test | paths
cpack | build | t* | -G -C -B:o --config:x |
ninja,samu | build | t* | -C:c -f:k -j -k -l -d -t -w |
meson | build | t* | -C:c --native-file:x --cross-file:x --wrap-mode -D? --prefix | meson
bazel,bazelisk,buck,buck2,pants,please,gn | build | t* | --run_under:x --bazelrc:x --output_base:o --host_jvm_args | bazel
ant,mvn,maven,mvnd,gradle,sbt,mill,lein,clojure,clj,bloop | build | t* | -f:r -p:c -b:r -c:r -I:x --init-script:x --build-file:r --project-dir:c -D? -P? -s:r --settings:r -gs:r -pl -rf -T -l:w -logfile:w @single | jvm
rake,rspec,rubocop,minitest,cucumber,standardrb,reek,brakeman,sorbet,srb,yard,rails,jekyll | build | t* | -f:x --rakefile:x -r:x --require:x -e:z --execute:z -p:z -I:m -E:z -o:w --out:w -O:r --options:r -C:c --directory:c -c? -P --pattern -t --tag --example --seed -j? | paths
bundle install,bundle update,bundle add,bundle lock,bundle outdated | install | t* | |
bundle | sub:install | t* | |
bundle list,bundle show,bundle info,bundle check,bundle version,bundle platform,bundle env | fact | t* | |
gem | install | t* | | versions
gem list,gem env,gem specification,gem which,gem contents,gem search,gem info,gem environment | fact | t* | |
gem build | build | t* | |
gem push,gem yank,gem owner | publish | t* | |
pytest,py.test,tox,nox,unittest,nosetests,coverage,behave,robot | build | t* | -p -c:r --rootdir:m -k -m -n --basetemp:o -o --junitxml:w --junit-xml:w --cov-report --cov? --ignore:m --deselect --durations --maxfail --tb --log-file:w --result-log:w -e -r? --workdir:o | paths
ruff,black,isort,flake8,pylint,mypy,pyright,pyre,bandit,autopep8,yapf,pycodestyle,pydocstyle,pyflakes,vulture,pre-commit run,djlint,codespell,sphinx-build,mkdocs | build | t* | --config:r -c --select --ignore --exclude --line-length -l --target-version --cache-dir:o -o:w --output-file:w --output-format --rcfile:r --config-file:r --extend-select --format --junit-xml:w | paths
pip,pip3 | sub | | --python:x --log:w --cache-dir:o --proxy --index-url | 
pip list,pip show,pip freeze,pip check,pip debug,pip cache,pip --version,pip help,pip inspect,pip3 list,pip3 show,pip3 freeze,pip3 check,pip3 help | fact | t* | |
pip config,pip3 config | state | t* | | pipconfig
pip install,pip3 install,pip download,pip3 download,pip wheel,pip3 wheel,pip uninstall,pip3 uninstall,pip index,pip3 index,pip search | install | t* | -r:r -c:r -e:m -t:o -d:o -w:o -i -f --target:o --prefix:o --root:o --src:o --dest:o --wheel-dir:o --requirement:r --constraint:r --editable:m --cache-dir:o --log:w --report:w --index-url --extra-index-url --find-links --trusted-host --proxy --python:x --global-option --build-option --config-settings | paths
uv,uvx,pipx,easy_install | install | t* | | versions
uv run | build | t* | @stops |
uv tree,uv version,uv pip list,uv pip show,uv pip freeze,uv python list,pipx list | fact | t* | |
uv build | build | t* | -o:o --out-dir:o |
twine,flit | publish | t* | |
npm,pnpm | sub | | --script-shell:x --prefix:c -C:c --dir:c --cwd:c --userconfig:x --globalconfig:x --workspace -w -F --filter --loglevel --registry --node-options:x --cache:o -r! | 
yarn | sub:install | | --script-shell:x --cwd:c --cache-folder:o --prefix:c |
npm test,npm t,npm tst,npm run,npm run-script,npm rum,npm start,npm stop,npm restart,npm build,npm pack,npm version,npm init,npm pkg,npm prune,npm dedupe,npm rebuild,npm shrinkwrap,pnpm test,pnpm t,pnpm run,pnpm start,pnpm build,pnpm lint,pnpm dev,pnpm pack,pnpm init,pnpm rebuild,yarn test,yarn run,yarn build,yarn start,yarn lint,yarn dev,yarn pack,yarn init,yarn version,yarn workspace,yarn workspaces,yarn typecheck,yarn format | build | t* | --script-shell:x --node-options:x --prefix:c --workspace -w --pack-destination:o | paths
npm ls,npm list,npm la,npm ll,npm root,npm prefix,npm bin,npm help,npm explain,npm why,npm query,npm doctor,npm completion,npm fund,npm --version,pnpm ls,pnpm list,pnpm why,pnpm root,pnpm bin,pnpm licenses,yarn list,yarn why,yarn info,yarn bin,yarn licenses,yarn versions,yarn check | fact | t* | --prefix:c --depth | paths
npm view,npm info,npm show,npm search,npm outdated,npm audit,npm ping,npm whoami,npm token,npm profile,npm org,npm team,npm dist-tag,npm owner,npm access,npm docs,npm repo,npm bugs,npm star,pnpm outdated,pnpm audit,yarn outdated,yarn audit | network | t* | |
npm config,npm set,npm get,pnpm config,yarn config | state | t* | | npmconfig
npm cache,pnpm store,yarn cache,npm link,npm unlink,pnpm link,yarn link,pnpm env,pnpm setup,yarn set | state | t* | |
npm install,npm i,npm ci,npm add,npm update,npm up,npm uninstall,npm remove,npm rm,npm un,npm exec,npm x,npm create,npm install-test,npm it,npm cit,npm edit,npm explore,npm install-ci-test,npm clean-install,pnpm install,pnpm i,pnpm add,pnpm update,pnpm up,pnpm remove,pnpm rm,pnpm dlx,pnpm create,pnpm import,pnpm fetch,pnpm deploy,yarn install,yarn add,yarn upgrade,yarn up,yarn remove,yarn dlx,yarn create,yarn global,yarn import,yarn dedupe | install | t* | --prefix:c --cache:o --script-shell:x | paths
npm publish,npm unpublish,npm deprecate,npm login,npm logout,npm adduser,pnpm publish,yarn publish,yarn npm,yarn login | publish | t* | |
pnpm exec,yarn exec | build | t* | @stops |
yarn node,npm-run-all,run-s,run-p,concurrently,cross-env,nodemon,node-gyp,prebuildify | program | t* | |
npx,bunx,pnpx | install | t* | --package -p -c:s --call:s | npx
tsc,jest,vitest,mocha,ava,tap,karma,cypress,playwright,eslint,prettier,stylelint,biome,oxlint,standard,xo,tslint,webpack,vite,rollup,esbuild,parcel,swc,babel,next,nuxt,astro,gatsby,ng,vue-cli-service,svelte-kit,turbo,nx,lerna,rush,wireit,typedoc,jsdoc,c8,nyc,commitlint,lint-staged,markdownlint,markdownlint-cli2,html-validate,htmlhint,cspell,size-limit,postcss,tailwindcss,sass,lessc,stencil,storybook,graphql-codegen,prisma generate,svgo,terser,depcheck,knip,madge,api-extractor | build | t* | -c:r --config:r -p:r --project:r -o:o --outDir:o --out-dir:o --outfile:w --outdir:o --output-file:w -f --format --resolve-plugins-relative-to --rulesdir:x --require:x -r:x --ext --setupFiles:x --globalSetup:x --output-path:o --cache-location:o --coverageDirectory:o | paths
bun | sub:code | | --cwd:c --preload:x -r:x -e:z -p:z --eval:z --print:z |
bun test,bun build,bun lint | build | t* | --outdir:o --outfile:w --preload:x |
bun run | build | t* | | packagescript
bun install,bun add,bun remove,bun update,bun link,bun create,bun x,bun i,bun upgrade | install | t* | |
bun pm | fact | t* | |
bun publish | publish | t* | |
deno | sub:code | | |
deno test,deno lint,deno fmt,deno check,deno bench,deno doc,deno coverage,deno compile,deno bundle | build | t* | -o:w --output:w -c:r --config:r --preload:x |
deno info,deno types,deno help | fact | t* | |
deno install,deno add,deno cache,deno upgrade,deno update,deno remove,deno init | install | t* | |
deno run,deno eval,deno task,deno serve,deno repl,deno jupyter | code | t* | |
deno publish,deno deploy | publish | t* | |
go | sub | | -C:c | go
go build,go vet,go test,go generate,go fix,go tool,go clean,go fmt | build | t* | @single -o:w -exec:x -toolexec:x -vettool:x -overlay:r -C:c -run -bench -count -timeout -tags -ldflags -gcflags -asmflags -gccgoflags -p -cpu -parallel -coverprofile:w -cpuprofile:w -memprofile:w -blockprofile:w -mutexprofile:w -trace:w -outputdir:o -mod -modfile:r -pkgdir:o -fuzz -fuzztime -benchtime -covermode -coverpkg -shuffle -skip -list -compiler -buildmode -installsuffix -pgo:r -fuzzcachedir:o -modcacherw! -fuzzminimizetime -buildvcs | gotool
go run | script | r t* | @single @stops -exec:x -toolexec:x -C:c -tags -mod -ldflags |
go list,go doc,go version,go help,go env,go bug | fact | t* | @single -C:c -f -tags -mod -w=state -u=state -toolexec:x -export=build -compiled=build | golist
go get,go install,go mod,go telemetry | install | t* | @single -C:c -toolexec:x -exec:x -o:w -modfile:r | gomod
go work | edit | t* | @single -C:c |
gofmt,goimports,gofumpt,gci,golines | read | m* | @single -w=build -cpuprofile:w -r -local -srcdir:m | formatter
golangci-lint,staticcheck,revive,errcheck,gosec,govulncheck,gocyclo,ineffassign,golint,gotestsum,ginkgo,mockgen,wire,stringer,sqlc,buf,protoc,protoc-gen-go,swag,oapi-codegen,ent,templ,air,reflex,goreleaser,ko,mage,task,just | build | t* | -c:r --config:r -f --format -o:w --out:w --out-format --jsonfile:w --junitfile:w --post-run-command:s --rerun-fails? --plugin:x --raw-command:x -t:r -j -I:m --go_out:o --proto_path:m | paths
cargo | sub | | --config:k -C:c --manifest-path:r --color -Z --target-dir:o | cargo
cargo build,cargo b,cargo test,cargo t,cargo check,cargo c,cargo clippy,cargo fmt,cargo bench,cargo doc,cargo d,cargo rustc,cargo rustdoc,cargo nextest,cargo llvm-cov,cargo tarpaulin,cargo miri,cargo expand,cargo package,cargo new,cargo init,cargo clean,cargo fix,cargo hack,cargo udeps,cargo deny,cargo criterion,cargo insta,cargo machete,cargo sort,cargo make,cargo xtask | build | t* | --config:k --target-dir:o --manifest-path:r -p --package --features --target --bin --example --test --bench --profile -j --jobs --out-dir:o --artifact-dir:o --message-format -F -Z | paths
cargo tree,cargo metadata,cargo version,cargo help,cargo locate-project,cargo pkgid,cargo verify-project,cargo read-manifest,cargo --list | fact | t* | --config:k --manifest-path:r -p --format-version |
cargo run,cargo r | script | t* | --config:k --manifest-path:r -p --bin --features --target-dir:o |
cargo add,cargo remove,cargo rm,cargo update,cargo fetch,cargo install,cargo uninstall,cargo search,cargo info,cargo vendor,cargo generate-lockfile,cargo audit,cargo outdated,cargo generate,cargo binstall,cargo upgrade | install | t* | --config:k --root:o --path:m --git --manifest-path:r |
cargo publish,cargo yank,cargo login,cargo logout,cargo owner | publish | t* | |
rustc,gcc,g++,cc,c++,clang,clang++,cpp,tcc,gfortran,ghc,javac,kotlinc,scalac,ocamlc,ocamlopt,ldc2,dmd,nim,v,crystal,swiftc,fpc,nasm,yasm,as,ld,gold,lld,mold,ccache,sccache,distcc,emcc,em++,nvcc,hipcc,dart2js,elm,gleam,purs,rescript,coffee,zigcc | build | r* | -o:w -I:m -L:m -l -D -U -x -MF:w -MT -MQ -include:r -isystem:m -idirafter:m -B:x -fplugin?x -wrapper:x -specs?x -T:r -Xlinker -Xclang -target -arch -std? -d:o -cp:m -classpath:m -processorpath:x -C -L:m --out-dir:o --emit --edition --crate-type --crate-name --cfg -W? -O? -f? -m? -g? | compiler
cppcheck,clang-tidy,clang-format,include-what-you-use,cpplint,uncrustify,astyle,indent,rustfmt,shfmt,shellcheck,hadolint,yamllint,actionlint,jsonlint,vint,luacheck,stylua,sqlfluff,ktlint,detekt,swiftlint,swiftformat,checkstyle,pmd,spotbugs,google-java-format,scalafmt,credo,buildifier,nixfmt,tflint,tfsec,checkov,trivy,semgrep,gitleaks,typos,vale,proselint,write-good,textlint,editorconfig-checker,ansible-lint,phpcs,phpcbf,php-cs-fixer,phpstan,psalm,rector | build | t* | -c:r --config:r -o:w --output:w --report:w -load:x --load:x -f --format --export-fixes:w -p:m -style -e -s | paths
phpunit,pest,codecept,artisan,composer | build | t* | -c:r --configuration:r --bootstrap:x -d --working-dir:c | composer
swift | sub:build | | --package-path:c |
swift build,swift test,swift package | build | t* | --package-path:c --scratch-path:o --build-path:o -c |
swift run,rails runner,rails console,rails dbconsole | script | t* | |
xcodebuild,xcrun,pod,carthage,fastlane,tuist,xcodegen | build | t* | -derivedDataPath:o -project:r -workspace:r -scheme -configuration -destination -sdk -resultBundlePath:o @single | pods
flutter,dart | sub | | |
flutter test,flutter build,flutter analyze,flutter format,flutter clean,flutter doctor,flutter gen-l10n,flutter drive,dart test,dart analyze,dart format,dart fix,dart compile,dart doc | build | t* | -o:w --output:w |
flutter run,dart run | script | t* | |
flutter pub,flutter create,flutter upgrade,flutter channel,flutter config,flutter precache,dart pub,dart create | install | t* | |
mix | sub:build | | |
mix test,mix compile,mix format,mix credo,mix dialyzer,mix docs,mix phx.routes,mix clean,mix xref,mix coveralls,mix ecto.gen.migration,mix new | build | t* | |
mix run,mix eval | code | t* | |
mix deps.get,mix deps.update,mix local.hex,mix archive.install,mix escript.install,mix deps | install | t* | |
mix hex.publish | publish | t* | |
mix ecto.drop,mix ecto.reset,mix ecto.migrate,mix ecto.rollback,mix ecto.create,mix ecto.setup | database | t* | |
rebar3,stack,cabal,dune,opam exec,esy,spago,zig,nimble,shards,fpm,alr,conan,vcpkg,xmake,scons,waf,premake5,tup,redo,b2,qmake,autoconf,automake,aclocal,libtoolize,autoreconf,pkg-config,swig,bison,yacc,flex,lex,gperf,ragel,re2c,antlr4,thrift,capnp,flatc | build | t* | -o:w --output:w -I:m -C:c --prefix | builders
dotnet | sub | | |
dotnet build,dotnet test,dotnet format,dotnet clean,dotnet msbuild,dotnet vstest,dotnet pack,dotnet publish,dotnet new,dotnet sln | build | t* | -o:o --output:o -c -f -r --results-directory:o --artifacts-path:o |
dotnet run,dotnet watch,dotnet exec,dotnet fsi,dotnet script | script | t* | |
dotnet restore,dotnet add,dotnet tool,dotnet nuget,dotnet workload,dotnet remove,dotnet ef | install | t* | |
dotnet list,dotnet --info,dotnet --list-sdks,dotnet --list-runtimes,dotnet --version,dotnet help | fact | t* | |
msbuild,nuget,vstest.console | build | t* | |
java | code | t* | @single | java
jar | edit | t* | | ar
javap,jdeps,jps,jstack,jinfo | fact | t* | |
pre-commit,husky,lefthook,overcommit,simple-git-hooks | gitstate | t* | -c:r --config:r |
git-lfs | network | t* | |
`
