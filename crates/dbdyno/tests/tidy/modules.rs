//! The modules of a crate and their imports from each other.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::repository::File;
use crate::source::product_tokens;

pub struct Modules(pub Vec<Module>);

/// A module without those below it.
#[derive(Default)]
pub struct Module {
    /// Names from the root of the crate.
    pub name: Vec<String>,
    pub file: String,
    pub parent: Option<usize>,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    uses: Vec<Use>,
    /// Paths outside `use`, with their lines.
    paths: BTreeSet<(usize, Vec<String>)>,
}

struct Use {
    line: usize,
    path: Vec<String>,
    /// Local name; `None` for `*`.
    name: Option<String>,
    public: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Folding {
    Module(usize),
    ItemOf(usize),
}

/// A use of one module's items by another.
pub struct Import {
    pub from: usize,
    pub to: usize,
    pub line: usize,
    pub path: String,
}

impl Modules {
    /// The modules below a root such as `crates/host/src/lib.rs`.
    pub fn of(files: &[File], root: &str) -> Self {
        let texts = files
            .iter()
            .map(|file| (file.path.as_str(), file.text.as_str()));
        let mut reading = Reading {
            texts: texts.collect(),
            modules: Vec::new(),
        };
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        reading.file(root, folder, Vec::new(), None);
        Self(reading.modules)
    }

    /// Imports of each module from others; a re-export from a module below does not count.
    pub fn imports(&self) -> Vec<Import> {
        let mut imports = Vec::new();
        for (from, module) in self.0.iter().enumerate() {
            let uses = module
                .uses
                .iter()
                .map(|u| (u.line, &u.path, Some(u.public)));
            let paths = module.paths.iter().map(|(line, path)| (*line, path, None));
            for (line, path, public) in uses.chain(paths) {
                let Some(target) = self.resolve(from, path, 0) else {
                    continue;
                };
                let (Folding::Module(to) | Folding::ItemOf(to)) = target;
                let passes_on = public == Some(true) && self.is_below(to, from);
                // The name of an ancestor is only the prefix of other paths.
                let is_prefix =
                    target == Folding::Module(to) && (self.is_below(from, to) || public.is_none());
                if to != from && !passes_on && !is_prefix {
                    imports.push(Import {
                        from,
                        to,
                        line,
                        path: path.join("::"),
                    });
                }
            }
        }
        imports
    }

    fn is_below(&self, module: usize, above: usize) -> bool {
        self.0[module].name.starts_with(&self.0[above].name)
    }

    fn resolve(&self, from: usize, path: &[String], depth: usize) -> Option<Folding> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => 0,
            "self" => from,
            "super" => self.0[from].parent?,
            _ => return self.named(from, path, depth),
        };
        while rest.first().is_some_and(|name| name == "super") {
            (at, rest) = (self.0[at].parent?, &rest[1..]);
        }
        if rest.is_empty() {
            return Some(Folding::Module(at));
        }
        // Items from macros are invisible and count as items of the module in which they are searched for.
        let is_foreign = self.0[at]
            .uses
            .iter()
            .any(|u| u.name.as_ref() == rest.first());
        let unseen = (!is_foreign).then_some(Folding::ItemOf(at));
        self.named(at, rest, depth).or(unseen)
    }

    /// Resolves a path whose first name is known in a module.
    fn named(&self, at: usize, path: &[String], depth: usize) -> Option<Folding> {
        const ALIASES_MAX: usize = 20;
        let (first, rest) = path.split_first()?;
        let module = &self.0[at];
        if depth > ALIASES_MAX {
            return None;
        }
        if module.items.contains(first) && (rest.is_empty() || !module.children.contains_key(first))
        {
            return Some(Folding::ItemOf(at));
        }
        if let Some(child) = module.children.get(first) {
            return match rest {
                [] => Some(Folding::Module(*child)),
                _ => Some(
                    self.named(*child, rest, depth)
                        .unwrap_or(Folding::ItemOf(*child)),
                ),
            };
        }
        let aliases = module
            .uses
            .iter()
            .filter(|u| u.name.as_ref() == Some(first));
        let aliased = aliases.filter(|u| u.path != path).find_map(|u| {
            let path = [&u.path, rest].concat();
            self.resolve(at, &path, depth + 1)
        });
        let globs = module.uses.iter().filter(|u| u.name.is_none());
        aliased.or_else(|| {
            globs
                .into_iter()
                .find_map(|u| match self.resolve(at, &u.path, depth + 1)? {
                    Folding::Module(source) if source != at => self.named(source, path, depth + 1),
                    _ => None,
                })
        })
    }
}

/// Reads the files of a crate, from the root down.
struct Reading<'a> {
    texts: BTreeMap<&'a str, &'a str>,
    modules: Vec<Module>,
}

impl Reading<'_> {
    /// Reads a file whose modules lie in a folder.
    fn file(
        &mut self,
        path: &str,
        folder: &str,
        name: Vec<String>,
        parent: Option<usize>,
    ) -> usize {
        let text = self.texts.get(path).copied();
        let text = text.unwrap_or_else(|| panic!("{path}: declared and not there"));
        let parsed = syn::parse2::<syn::File>(product_tokens(path, text));
        let parsed = parsed.unwrap_or_else(|error| panic!("{path}: not Rust: {error}"));
        self.module(parsed.items, path, folder, name, parent)
    }

    fn module(
        &mut self,
        items: Vec<syn::Item>,
        file: &str,
        folder: &str,
        name: Vec<String>,
        parent: Option<usize>,
    ) -> usize {
        let index = self.modules.len();
        let file = file.to_owned();
        let mut module = Module {
            name: name.clone(),
            file: file.clone(),
            parent,
            ..Module::default()
        };
        let (below, items): (Vec<_>, Vec<_>) = items
            .into_iter()
            .partition(|item| matches!(item, syn::Item::Mod(_)));
        for item in &items {
            module.items.extend(defined(item));
            module.visit_item(item);
        }
        self.modules.push(module);
        for item in below {
            let syn::Item::Mod(declared) = item else {
                continue;
            };
            let child = declared.ident.to_string();
            let name = [name.clone(), vec![child.clone()]].concat();
            let inner = format!("{folder}/{child}");
            let below = match declared.content {
                Some((_, items)) => self.module(items, &file, &inner, name, Some(index)),
                None => {
                    let sibling = format!("{inner}.rs");
                    let inside = format!("{inner}/mod.rs");
                    let path = if self.texts.contains_key(inside.as_str()) {
                        inside
                    } else {
                        sibling
                    };
                    self.file(&path, &inner, name, Some(index))
                }
            };
            self.modules[index].children.insert(child, below);
        }
        index
    }
}

fn defined(item: &syn::Item) -> Option<String> {
    let name = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

impl Module {
    /// A single lower-case letter may be a variable, so that it counts only if it is called.
    fn path(&mut self, line: usize, path: Vec<String>, called: bool) {
        let is_type = path[0].starts_with(char::is_uppercase);
        if path.len() > 1 || is_type || called {
            self.paths.insert((line, path));
        }
    }

    fn tree(&mut self, tree: &syn::UseTree, before: &[String], public: bool) {
        let mut add = |name: &syn::Ident, alias: Option<&syn::Ident>| {
            let mut path = before.to_vec();
            // `use a::{self}` is `use a`.
            if name != "self" || path.is_empty() {
                path.push(name.to_string());
            }
            let alias = alias
                .map(ToString::to_string)
                .or_else(|| path.last().cloned());
            let line = name.span().start().line;
            self.uses.push(Use {
                line,
                path,
                name: alias,
                public,
            });
        };
        match tree {
            syn::UseTree::Path(part) => {
                let path = [before, &[part.ident.to_string()]].concat();
                self.tree(&part.tree, &path, public);
            }
            syn::UseTree::Name(part) => add(&part.ident, None),
            syn::UseTree::Rename(part) => add(&part.ident, Some(&part.rename)),
            syn::UseTree::Glob(part) => {
                let line = part.star_token.spans[0].start().line;
                self.uses.push(Use {
                    line,
                    path: before.to_vec(),
                    name: None,
                    public,
                });
            }
            syn::UseTree::Group(part) => {
                for tree in &part.items {
                    self.tree(tree, before, public);
                }
            }
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        let mut path = Vec::new();
        let mut line = 0;
        let mut sign = String::new();
        for token in tokens {
            if let TokenTree::Ident(name) = &token {
                if sign != "::" && !path.is_empty() {
                    self.path(line, std::mem::take(&mut path), false);
                }
                let of_another = sign == "." || (sign == "::" && path.is_empty());
                if !of_another {
                    line = name.span().start().line;
                    path.push(name.to_string());
                }
                sign.clear();
                continue;
            }
            let is_colon = matches!(&token, TokenTree::Punct(p) if p.as_char() == ':');
            if !is_colon && !path.is_empty() {
                let called = matches!(&token, TokenTree::Group(g) if g.delimiter() == Delimiter::Parenthesis);
                self.path(line, std::mem::take(&mut path), called && sign.is_empty());
            }
            match token {
                TokenTree::Punct(punct) if is_colon => sign.push(punct.as_char()),
                TokenTree::Punct(punct) => sign = punct.as_char().to_string(),
                TokenTree::Group(group) => {
                    sign.clear();
                    self.tokens(group.stream());
                }
                _ => sign.clear(),
            }
        }
        if !path.is_empty() {
            self.path(line, path, false);
        }
    }
}

impl<'a> Visit<'a> for Module {
    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        // `use ::name` always means another crate.
        if item.leading_colon.is_none() {
            let public = !matches!(item.vis, syn::Visibility::Inherited);
            self.tree(&item.tree, &[], public);
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let names: Vec<_> = path
            .segments
            .iter()
            .map(|part| part.ident.to_string())
            .collect();
        if path.leading_colon.is_none() {
            self.path(path.segments[0].ident.span().start().line, names, false);
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        if let syn::Expr::Path(called) = &*call.func
            && let Some(name) = called.path.get_ident()
        {
            self.path(name.span().start().line, vec![name.to_string()], true);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_macro(&mut self, call: &'a syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }

    /// `pub(in crate::a)` restricts visibility and imports nothing from `a`.
    fn visit_visibility(&mut self, _: &'a syn::Visibility) {}
}
